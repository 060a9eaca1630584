"""What is taken of promptfoo's configs, and what is listed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.trials import given, made
from toolspan_bridge import UsageError
from toolspan_bridge.events import Answer
from toolspan_bridge.validation import judge
from toolspan_bridge.validation.imports import Imported, load_imported
from toolspan_server import ConfigError

pytestmark = pytest.mark.requirement("I14.1.70")


def imported(folder: Path, *assertions: Any, **more: Any) -> Imported:
    """One test with ``assertions``, as promptfoo's file has it."""
    test = {"vars": {"city": "Oslo"}, "assert": list(assertions), **more.pop("test", {})}
    path = folder / "promptfooconfig.yaml"
    path.write_text(yaml.safe_dump({"prompts": ["Weather in {{ city }}?"], "tests": [test], **more}))
    return load_imported("promptfoo", path)


def verdicts(folder: Path, assertion: Any, *answers: Answer) -> list[bool]:
    """Whether each of ``answers`` passes."""
    (scenario,) = imported(folder, assertion).suite.scenarios
    expect = scenario.asked[0].expect
    return [judge(expect, answer).success for answer in answers]


@pytest.mark.parametrize(
    ("assertion", "passes", "fails"),
    [
        ({"type": "contains", "value": "Sun (18)"}, ["the Sun (18)!"], ["the sun (18)", "Sun 18"]),
        ({"type": "icontains", "value": "SUN"}, ["a sunny day"], ["rain"]),
        ({"type": "contains-any", "value": ["Sun", "Rain"]}, ["Rain."], ["rain"]),
        ({"type": "icontains-any", "value": "sun, rain"}, ["RAIN"], ["snow"]),
        ({"type": "contains-all", "value": ["Sun", "wind"]}, ["wind and Sun"], ["Sun and Wind", "Sun"]),
        ({"type": "contains-all", "value": ["row", "owner"]}, ["the rowner", "owner, row"], ["row own er"]),
        ({"type": "icontains-all", "value": ["sun", "18", "wind"]}, ["18, Wind\nand sun"], ["18, sun"]),
        ({"type": "starts-with", "value": "Yes."}, ["Yes. It is"], ["Oh. Yes.", "Yes, it is"]),
        ({"type": "ends-with", "value": "18"}, ["It is 18"], ["18 it is"]),
        ({"type": "equals", "value": "18"}, ["18"], ["18 "]),
        ({"type": "regex", "value": "1[0-9] degrees"}, ["so 17 degrees"], ["27 degrees"]),
        ({"type": "is-json", "value": {"required": ["a"]}}, ['{"a": 1}'], ["{}", "a"]),
    ],
)
def test_assertions_on_the_answer_mean_what_they_mean_there(
    assertion: Any, passes: Sequence[str], fails: Sequence[str], tmp_path: Path
) -> None:
    found = verdicts(tmp_path, assertion, *map(given, (*passes, *fails)))
    assert found == [True] * len(passes) + [False] * len(fails)


def calls(*names: str, **arguments: Any) -> Answer:
    return given("Done.", [made(name, arguments or {}) for name in names])


@pytest.mark.parametrize(
    ("assertion", "passes", "fails"),
    [
        ({"type": "trajectory:tool-used", "value": "a"}, [calls("b", "a")], [calls("b")]),
        ({"type": "trajectory:tool-used", "value": ["a", "b"]}, [calls("b", "a")], [calls("b", "b")]),
        ({"type": "trajectory:tool-used", "value": {"name": "a", "min": 2}}, [calls("a", "a")], [calls("a")]),
        (
            {"type": "trajectory:tool-used", "value": {"name": "a", "max": 0, "min": 0}},
            [calls("b")],
            [calls("a")],
        ),
        ({"type": "not-trajectory:tool-used", "value": ["a", "b"]}, [calls("c")], [calls("c", "b")]),
        (
            {"type": "trajectory:tool-sequence", "value": ["a", "b"]},
            [calls("a", "c", "b")],
            [calls("b", "a")],
        ),
        (
            {"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["a", {"name": "b"}]}},
            [calls("a", "b")],
            [calls("a", "c", "b")],
        ),
        (
            {
                "type": "trajectory:tool-args-match",
                "value": {"name": "a", "args": {"to": "Oslo", "n": {"x": [1]}}},
            },
            [calls("a", to="Oslo", n={"x": [1], "y": 2}, more=1)],
            [
                calls("a", to="oslo", n={"x": [1]}),
                calls("a", to="Oslo", n={"x": [1, 2]}),
                calls("a", to="Oslo"),
            ],
        ),
    ],
)
def test_assertions_on_calls_mean_what_they_mean_there(
    assertion: Any, passes: Sequence[Answer], fails: Sequence[Answer], tmp_path: Path
) -> None:
    assert verdicts(tmp_path, assertion, *passes, *fails) == [True] * len(passes) + [False] * len(fails)


@pytest.mark.parametrize(
    ("assertion", "why"),
    [
        ({"type": "javascript", "value": "output.length > 5"}, "code is not run"),
        ({"type": "not-python", "value": "file://check.py"}, "code is not run"),
        ({"type": "llm-rubric", "value": "is kind"}, "judgement of another model"),
        ({"type": "trajectory:goal-success", "value": "x"}, "judgement of another model"),
        ({"type": "not-contains", "value": "x"}, "what must not be"),
        ({"type": "is-valid-openai-tools-call"}, "a call of any tool"),
        ({"type": "latency", "threshold": 500}, "no equal here"),
        ({"type": "regex", "value": "(?=a)b"}, "RE2"),
        ({"type": "trajectory:tool-used", "value": "get_*"}, "several names"),
        ({"type": "equals", "value": {"a": 1}}, "no equal here"),
        ({"type": "contains", "value": "file://text.txt"}, "another file"),
        ({"type": "contains", "value": "{{ unknown }}"}, "'unknown' has no text"),
        ({"type": "contains", "value": "{% if a %}b{% endif %}"}, "more than variables"),
        ({"type": "tool-call-f1", "value": ["a"], "threshold": 0.5}, "a share of the tools"),
    ],
)
def test_what_has_no_equal_is_listed_with_its_place(assertion: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as nothing:
        imported(tmp_path, assertion)
    assert why in nothing.value.message
    found = imported(tmp_path, {"type": "icontains", "value": "sun"}, assertion)
    if "contains-all" not in assertion["type"]:
        assert [each.place.rpartition("promptfooconfig.yaml:")[0] for each in found.left_out] == [
            f"{tmp_path}/"
        ]
        assert why in found.left_out[0].why
    assert len(found.suite.scenarios) == 1


def test_parts_of_an_answer_that_could_overlap_in_many_ways_are_not_taken(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="so many parts of the answer"):
        imported(tmp_path, {"type": "contains-all", "value": ["ab", "bc", "cd"]})


def test_what_is_taken_in_part_is_said(tmp_path: Path) -> None:
    found = imported(tmp_path, {"type": "tool-call-f1", "value": "a, b"})
    assert [call.tool for call in found.suite.scenarios[0].asked[0].expect.calls] == ["a", "b"]
    assert "no other tool is called" in found.left_out[0].why


def test_beside_tools_the_output_may_be_the_call_itself(tmp_path: Path) -> None:
    one = [{"id": "a:b", "config": {"tools": [{"type": "function", "function": {"name": "get_weather"}}]}}]
    valid, text = {"type": "is-valid-openai-tools-call"}, {"type": "contains", "value": "Oslo"}
    found = imported(tmp_path, valid, text, providers=one)
    expect = found.suite.scenarios[0].asked[0].expect
    assert ([call.tool for call in expect.calls], expect.answer) == (["get_weather"], ())
    assert "may be the call itself" in found.left_out[0].why
    two = [*one, {"id": "c:d", "config": {"tools": [{"name": "get_time", "input_schema": {}}]}}]
    with pytest.raises(UsageError, match="a call of any tool"):
        imported(tmp_path, valid, providers=two)


def test_prompts_variables_and_defaults_are_put_together(tmp_path: Path) -> None:
    found = imported(
        tmp_path,
        {"type": "assert-set", "assert": [{"type": "icontains", "value": "{{city}}"}]},
        prompts=[
            "Weather in {{ city }}{{ mark }}",
            "{{city}}, please",
            "file://prompt.txt",
            '[{"role": "user"}]',
        ],
        defaultTest={
            "vars": {"mark": "?"},
            "assert": [{"type": "trajectory:tool-used", "value": "get_weather"}],
        },
        test={"description": "Oslo"},
    )
    assert [(each.name, each.query) for each in found.suite.scenarios] == [
        ("Oslo (prompt 1)", "Weather in Oslo?"),
        ("Oslo (prompt 2)", "Oslo, please"),
    ]
    assert all(each.asked[0].expect.calls and each.asked[0].expect.answer for each in found.suite.scenarios)
    assert [each.why for each in found.left_out] == [
        "a prompt in another file, or none at all",
        "a prompt of several messages has no equal here",
    ]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"test": {"threshold": 0.5}}, "passes by a score"),
        ({"test": {"options": {"transform": "output.a"}}}, "transforms the answer"),
        ({"test": {"vars": {"city": ["Oslo", "Rome"]}}}, "several values"),
        ({"test": {"vars": "file://vars.yaml"}}, "in another file"),
        ({"tests": "file://tests.csv"}, "in another file (file://tests.csv)"),
        ({"tests": []}, "it has no tests"),
    ],
)
def test_tests_that_mean_something_else_are_not_taken(more: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as nothing:
        imported(tmp_path, {"type": "icontains", "value": "sun"}, **more)
    assert why in nothing.value.message


def test_what_is_no_such_file_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text("prompts: [a]\ntests: [\n")
    with pytest.raises(ConfigError, match=r"promptfooconfig\.yaml:"):
        load_imported("promptfoo", path)
    path.write_text("- a\n")
    with pytest.raises(ConfigError, match="no object"):
        load_imported("promptfoo", path)
