"""What is taken of testmcpy's suites, and what is listed."""

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

pytestmark = pytest.mark.requirement("I14.1.71")


def imported(folder: Path, *evaluators: Any, **more: Any) -> Imported:
    test = {"name": "list", "prompt": "List the sets", "evaluators": list(evaluators), **more}
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump({"version": "1.0", "tests": [test]}))
    return load_imported("testmcpy", path)


def evaluator(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def answer(*names: str, text: str = "Done.", **arguments: Any) -> Answer:
    return given(text, [made(name, arguments or {}) for name in names])


@pytest.mark.parametrize(
    ("each", "passes", "fails"),
    [
        (evaluator("was_mcp_tool_called", tool_name="a"), [answer("a")], [answer("b")]),
        (
            evaluator("tool_called_with_parameter", tool_name="a", parameter_name="n"),
            [answer("a", n=None), answer("a", n=3)],
            [answer("a"), answer("b", n=3)],
        ),
        (
            evaluator(
                "tool_called_with_parameter", tool_name="a", parameter_name="n", parameter_value="Oslo"
            ),
            [answer("a", n="Oslo")],
            [answer("a", n="oslo")],
        ),
        (
            evaluator("tool_called_with_parameters", tool_name="a", parameters={"n": 2, "m": True}),
            [answer("a", n=2, m=True)],
            [answer("a", n=2, m=False), answer("a", n=2)],
        ),
        (
            evaluator(
                "parameter_value_in_range", tool_name="a", parameter_name="n", min_value=1, max_value=5
            ),
            [answer("a", n=5)],
            [answer("a", n=6), answer("a")],
        ),
        (evaluator("tool_call_count", max_count=2), [answer("a", "b"), answer()], [answer("a", "b", "a")]),
        (evaluator("tool_call_count", expected_count=0), [answer()], [answer("a")]),
        (evaluator("tool_call_count", tool_name="a", min_count=2), [answer("a", "a")], [answer("a", "b")]),
        (evaluator("tool_call_count", tool_name="a", expected_count=0), [answer("b")], [answer("a")]),
        (evaluator("tool_call_sequence", sequence=["a", "b"]), [answer("a", "b")], [answer("a", "c", "b")]),
        (
            evaluator("tool_call_sequence", sequence=["a", "b"], strict=False, allow_intermediate=True),
            [answer("a", "c", "b")],
            [answer("b", "a")],
        ),
        (evaluator("final_answer_contains", expected_content="Sets"), [answer(text="3 sets")], [answer()]),
        (
            evaluator("final_answer_contains", expected_content=["sets", "rows"]),
            [answer(text="rows of sets")],
            [answer(text="3 sets")],
        ),
        (evaluator("response_matches_pattern", pattern="[0-9]+ sets"), [answer(text="3 sets")], [answer()]),
    ],
)
def test_evaluators_mean_what_they_mean_there(
    each: Any, passes: Sequence[Answer], fails: Sequence[Answer], tmp_path: Path
) -> None:
    (scenario,) = imported(tmp_path, each).suite.scenarios
    found = [judge(scenario.asked[0].expect, one).success for one in (*passes, *fails)]
    assert found == [True] * len(passes) + [False] * len(fails)


def test_evaluators_of_one_tool_are_about_one_call(tmp_path: Path) -> None:
    found = imported(
        tmp_path,
        {"name": "execution_successful"},
        evaluator("tool_call_count", min_count=1, max_count=3),
        evaluator("was_mcp_tool_called", tool_name="a"),
        evaluator("tool_called_with_parameter", tool_name="a", parameter_name="n"),
        evaluator("tool_called_with_parameters", tool_name="a", parameters={"m": 1}, partial_match=True),
        category="sets",
    )
    (scenario,) = found.suite.scenarios
    (call,) = scenario.asked[0].expect.calls
    assert (call.tool, sorted(call.arguments)) == ("a", ["m", "n"])
    assert (scenario.tags, found.left_out) == (("sets",), [])


@pytest.mark.parametrize(
    "each",
    [
        evaluator("was_mcp_tool_called"),
        {"name": "execution_successful"},
        evaluator("within_time_limit", max_seconds=5),
        evaluator("llm_judge", prompt="kind?"),
        evaluator("response_includes", content="sets"),
        evaluator("response_not_includes", content="sets"),
        evaluator("tool_call_count", min_count=2),
        evaluator("tool_call_count", tool_name="a", max_count=2),
        evaluator("tool_call_sequence", sequence=["a", "b"], strict=False),
        evaluator("response_matches_pattern", pattern="(?=a)"),
        "just a name",
    ],
)
def test_what_has_no_equal_is_listed_with_its_line(each: Any, tmp_path: Path) -> None:
    found = imported(tmp_path, evaluator("tool_call_count", max_count=3), each)
    assert len(found.suite.scenarios) == 1
    assert [place.place.startswith(f"{tmp_path / 'suite.yaml'}:") for place in found.left_out] == [True]
    with pytest.raises(UsageError, match=r"suite\.yaml:\d+:\d+"):
        imported(tmp_path, each)


@pytest.mark.parametrize("key", ["steps", "auth", "setup", "load_test", "system_prompt", "include_tools"])
def test_tests_that_need_more_than_a_question_are_not_taken(key: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"\({key}\)"):
        imported(tmp_path, evaluator("tool_call_count", max_count=3), **{key: ["more"]})
