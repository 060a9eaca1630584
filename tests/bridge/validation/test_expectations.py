"""Forms of arguments and answers, orders and limits: what fits, what does not, and how it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as every
from hypothesis import strategies as st

from tests.support.trials import given, made
from toolspan_bridge.events import ToolUse
from toolspan_bridge.validation import Expect, judge, load_suite
from toolspan_server.errors import ConfigError

pytestmark = pytest.mark.requirement("I14.1.4")

TAKEN = {"success": True}


def _reasons(expect: dict[str, Any], calls: list[ToolUse], content: str = "") -> tuple[str, ...]:
    return judge(Expect.model_validate(expect), given(content, calls)).reasons


def _takes(expected: Any, arguments: dict[str, Any]) -> bool:
    expect = {"calls": [{"tool": "t", "arguments": {"x": expected}}]}
    return _reasons(expect, [made("t", arguments)]) == ()


@pytest.mark.parametrize(
    ("expected", "actual", "fits"),
    [
        ({"range": {"min": 1, "max": 5}}, 5, True),
        ({"range": {"min": 1, "max": 5}}, 5.1, False),
        ({"range": {"min": 1}}, 10**30, True),
        ({"range": {"max": 1}}, "0", False),
        ({"range": {"max": 1}}, True, False),
        ({"approximate": {"value": 6.75, "within": 0.01}}, 6.76, True),
        ({"approximate": {"value": 6.75, "within": 0.01}}, 6.77, False),
        ({"approximate": {"value": 6.75, "within": 0.01}}, "6.75", False),
        ({"approximate": {"value": 1.5, "within": 1}}, 10**400, False),
        ({"text": "New York"}, "new\tYORK ", True),
        ({"text": "New York"}, "York New", False),
        ({"subset": ["a", {"contains": "b"}]}, ["xb", "c", "A"], True),
        ({"subset": ["a", "b"]}, ["a"], False),
        ({"subset": {"city": "Paris"}}, {"city": "paris", "zip": 1}, True),
        ({"subset": {"city": "Paris"}}, ["city"], False),
        ({"schema": {"type": "array", "minItems": 2}}, [1, 2], True),
        ({"schema": {"type": "array", "minItems": 2}}, [1], False),
        ({"schema": {"type": "string", "format": "date"}}, "2026-13-01", False),
        ({"contains": "b"}, ["a", "B"], True),
        ({"city": {"absent": True}, "zip": 1}, {"zip": 1}, True),
        ({"city": {"absent": True}, "zip": 1}, {"zip": 1, "city": None}, False),
    ],
)
def test_an_argument_fits_as_its_form_says(expected: Any, actual: Any, fits: bool) -> None:
    assert _takes(expected, {"x": actual}) is fits


def test_an_absent_argument_is_one_that_is_not_given() -> None:
    assert _takes({"absent": True}, {})
    assert not _takes({"absent": True}, {"x": None})
    assert _takes({"one_of": [{"absent": True}, "C"]}, {})
    assert _takes({"one_of": [{"absent": True}, "C"]}, {"x": "c"})
    assert not _takes({"one_of": [{"absent": True}, "C"]}, {"x": "F"})
    assert not _takes(None, {})


_numbers = st.integers(-(10**12), 10**12) | st.floats(-1e12, 1e12)
_leaves = st.none() | st.booleans() | _numbers | st.text()
_lists = st.lists(_leaves, min_size=1, max_size=6)


@every(_numbers, _numbers, _numbers)
def test_a_range_holds_exactly_what_is_between_its_ends(one: float, other: float, value: float) -> None:
    low, high = sorted((one, other))
    assert _takes({"range": {"min": low, "max": high}}, {"x": value}) is (low <= value <= high)


@every(_lists, st.randoms(use_true_random=False))
def test_a_subset_is_found_in_any_order(items: list[Any], random: Any) -> None:
    shuffled = [*items, "more"]
    random.shuffle(shuffled)
    assert _takes({"subset": items}, {"x": shuffled})


@every(st.text(min_size=1))
def test_a_text_fits_itself_whatever_its_spaces(text: str) -> None:
    assert _takes({"text": text}, {"x": f" {text}\n"})


@every(_leaves | _lists | st.dictionaries(st.text(), _leaves))
def test_every_form_can_be_put_to_every_value(value: Any) -> None:
    for form in (
        {"range": {"min": 0}},
        {"approximate": {"value": 1, "within": 1}},
        {"text": "a"},
        {"subset": ["a"]},
        {"subset": {"a": 1}},
        {"schema": {"type": "string"}},
        {"contains": "a"},
        {"matches": "a"},
    ):
        assert _takes(form, {"x": value}) in (True, False)


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ({"one_of": ["celsius", "kelvin"]}, 'expected one of ["celsius", "kelvin"]'),
        ({"range": {"min": 1, "max": 5}}, "expected a number from 1 to 5"),
        ({"range": {"max": 5}}, "expected a number to 5"),
        ({"approximate": {"value": 2, "within": 0.5}}, "expected 2 ± 0.5"),
        ({"text": "a b"}, 'expected "a b", in any case and with any spaces'),
        ({"subset": ["a"]}, 'expected it to hold ["a"]'),
        ({"schema": {"type": "null"}}, 'expected a value that fits {"type": "null"}'),
        ({"contains": "a"}, 'expected it to contain "a"'),
        ({"matches": "^a"}, 'expected it to match "^a"'),
        ({"equals": {"contains": "x"}}, 'expected {"contains": "x"}'),
        ({"absent": True}, "expected it not to be given"),
    ],
)
def test_a_failure_says_what_was_given_and_what_was_expected(expected: Any, told: str) -> None:
    expect = {"calls": [{"tool": "t", "arguments": {"units": expected}}]}
    assert _reasons(expect, [made("t", {"units": "C"})]) == (f"t: argument 'units' was \"C\", {told}",)


def test_a_tool_that_was_called_in_place_of_another_is_named() -> None:
    assert _reasons({"calls": [{"tool": "b"}]}, [made("a")]) == ("wrong tool a for b",)


def test_of_several_calls_the_nearest_one_is_told() -> None:
    expect = {"calls": [{"tool": "t", "arguments": {"a": 1, "b": 2}}]}
    (reason,) = _reasons(expect, [made("t", {"a": 5}), made("t", {"a": 1, "b": 3})])
    assert reason == "t: argument 'b' was 3, expected 2"


ORDERED = {"calls": [{"tool": "a"}, {"tool": "b"}], "order": "ordered"}
PARALLEL = {"calls": [{"tool": "a"}, {"tool": "b"}], "order": "parallel"}


def _use(tool: str, turn: int = 1) -> ToolUse:
    return ToolUse(tool, {}, TAKEN, turn)


def test_ordered_calls_come_one_after_another_with_others_between() -> None:
    assert _reasons(ORDERED, [_use("a"), _use("x"), _use("b")]) == ()
    assert _reasons(ORDERED, [_use("b"), _use("a")]) == (
        "the calls came as b, a, expected in the order a, b",
    )
    assert _reasons(ORDERED, [_use("b"), _use("a"), _use("b", 2)]) == ()
    assert _reasons(ORDERED, [_use("a")]) == ("wrong tool a for b",)


def test_parallel_calls_are_made_in_one_turn() -> None:
    assert _reasons(PARALLEL, [_use("b", 2), _use("a", 2)]) == ()
    assert _reasons(PARALLEL, [_use("a", 1), _use("b", 2)]) == ("a, b were not called in one turn",)


def test_more_calls_and_turns_than_allowed_are_told() -> None:
    assert _reasons({"max_calls": 1}, [_use("a"), _use("a")]) == (
        "2 calls were made, at most 1 were expected",
    )
    assert _reasons({"max_calls": 2, "max_iterations": 9}, [_use("a"), _use("a")]) == ()
    many = replace(given("", [_use("a")]), iterations=3)
    assert judge(Expect.model_validate({"max_iterations": 2}), many).reasons == (
        "it took 3 turns, at most 2 were expected",
    )


@pytest.mark.parametrize(
    ("rule", "content", "holds"),
    [
        ({"number": {"value": 1234.5, "within": 0}}, "It is $1,234.50.", True),
        ({"number": {"value": -3, "within": 0.5}}, "about −3.2 °C", True),
        ({"number": {"value": 6.75, "within": 0.01}}, "6.8", False),
        ({"number": {"value": 1, "within": 1}}, "none", False),
        ({"json": {"path": "$.total", "is": {"range": {"min": 1}}}}, '{"total": 3}', True),
        ({"json": {"path": "$.total", "is": 4}}, 'Here:\n```json\n{"total": 4}\n```\nDone.', True),
        ({"json": {"path": "$.items[*].id", "is": "b"}}, '{"items": [{"id": "a"}, {"id": "B"}]}', True),
        ({"json": {"path": "$.total", "is": 4}}, '{"sum": 4}', False),
        ({"json": {"path": "$.total", "is": 4}}, "4", False),
        ({"json": {"path": "$.total", "is": 4}}, "[" * 100_000, False),
    ],
)
def test_an_answer_is_searched_for_numbers_and_json(rule: Any, content: str, holds: bool) -> None:
    assert (_reasons({"answer": rule}, [], content) == ()) is holds


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ("{calls: [{tool: a, arguments: {x: {range: {min: 3, max: 1}}}}]}", "min 3 is more than max 1"),
        ("{calls: [{tool: a, arguments: {x: {range: {}}}}]}", "range needs {min: number, max: number}"),
        ("{calls: [{tool: a, arguments: {x: {range: {min: a}}}}]}", "range needs a number as min, not 'a'"),
        ("{calls: [{tool: a, arguments: {x: {approximate: 3}}}]}", "approximate needs {value: number"),
        ("{calls: [{tool: a, arguments: {x: {text: 3}}}]}", "text needs a text that is not empty"),
        ("{calls: [{tool: a, arguments: {x: {subset: 3}}}]}", "subset needs a list or an object"),
        ("{calls: [{tool: a, arguments: {x: {schema: {type: nix}}}}]}", "schema is no JSON Schema"),
        ("{calls: [{tool: a, arguments: {x: {absent: false}}}]}", "absent can only be true"),
        ("{answer: {number: 3}}", "number needs {value: number, within: distance}"),
        ("{answer: {json: {path: '$['}}}", "json needs {path: JSONPath, is: value}"),
        ("{answer: {json: {path: '$[', is: 1}}}", "is no JSONPath (RFC 9535)"),
        ("{answer: {json: {path: '$[?@.a]', is: 1}}}", "has a filter"),
        ("{calls: [{tool: a}], order: ordered}", "order: ordered needs at least two calls"),
        ("{calls: [{tool: a}, {tool: b}], max_calls: 1}", "max_calls: 1 is less than the 2 expected calls"),
        ("{no_calls: true, max_calls: 1}", "no_calls and max_calls contradict each other"),
        ("{calls: [{tool: a}], order: sorted}", "order"),
    ],
)
def test_what_a_suite_cannot_mean_is_told_with_its_place(tmp_path: Path, expect: str, told: str) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(f"scenarios:\n  - query: q\n    expect: {expect}\n")
    with pytest.raises(ConfigError) as caught:
        load_suite(file)
    assert str(caught.value.problems[0]).startswith(f"{file}:3:")
    assert told in str(caught.value)
