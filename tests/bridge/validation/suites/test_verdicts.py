"""The judge compares an answer with what was expected, and says everything that is amiss."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given as every
from hypothesis import strategies as st

from tests.support.trials import failed_result, given, made
from toolspan_bridge.events import Answer
from toolspan_bridge.validation import Expect, judge

pytestmark = pytest.mark.requirement("I2.7.1")


def _reasons(expect: dict[str, Any], answer: Answer) -> tuple[str, ...]:
    return judge(Expect.model_validate(expect), answer).reasons


def _takes(expected: Any, actual: Any) -> bool:
    expect = Expect.model_validate({"calls": [{"tool": "t", "arguments": {"x": expected}}]})
    return judge(expect, given(calls=[made("t", {"x": actual})])).success


WEATHER = {"calls": [{"tool": "get_weather", "arguments": {"location": "Paris"}}]}


def test_an_expected_call_among_others_is_a_success() -> None:
    calls = [made("echo", {"a": 1}), made("get_weather", {"location": "Paris", "units": "celsius"})]
    assert _reasons(WEATHER, given("22 °C", calls)) == ()


def test_a_call_that_was_not_made_is_named_with_what_was_called() -> None:
    assert _reasons(WEATHER, given("Sunny.")) == ("get_weather was not called (no tool was)",)
    assert _reasons(WEATHER, given("", [made("echo"), made("add"), made("echo")])) == (
        "get_weather was not called (echo, add was)",
    )


def test_arguments_that_do_not_fit_are_shown() -> None:
    assert _reasons(WEATHER, given("", [made("get_weather", {"location": "London"})])) == (
        'get_weather: argument \'location\' was "London", expected "Paris"',
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "argument 'location' was not given, expected \"Paris\""),
        (None, "its arguments are no JSON object"),
    ],
)
def test_missing_or_malformed_arguments_do_not_fit(arguments: dict[str, Any] | None, told: str) -> None:
    assert _reasons(WEATHER, given("", [made("get_weather", arguments)])) == (f"get_weather: {told}",)


def test_a_call_that_the_tool_did_not_take_does_not_count() -> None:
    failed = made(
        "get_weather", {"location": "Paris"}, failed_result("Tool execution timed out after 30000ms")
    )
    assert _reasons(WEATHER, given("", [failed])) == (
        "get_weather was called, but failed: 'Tool execution timed out after 30000ms'",
    )
    assert _reasons(WEATHER, given("", [failed, made("get_weather", {"location": "Paris"})])) == ()


def test_each_expected_call_needs_a_call_of_its_own_in_any_order() -> None:
    twice = {"calls": [{"tool": "add"}, {"tool": "add", "arguments": {"a": 1}}]}
    assert _reasons(twice, given("", [made("add", {"a": 1}), made("add", {"a": 2})])) == ()
    assert _reasons(twice, given("", [made("add", {"a": 2}), made("add", {"a": 1})])) == ()
    assert _reasons(twice, given("", [made("add", {"a": 1})])) == ("add was called too few times (1)",)


def test_no_calls_means_none_not_even_a_failed_one() -> None:
    assert _reasons({"no_calls": True}, given("Hello!")) == ()
    assert _reasons({"no_calls": True}, given("", [made("echo", {}, failed_result("no"))])) == (
        "no tool was to be called, but echo was",
    )


def test_a_tool_that_must_never_be_called_is_named_when_it_was() -> None:
    never = {"never": ["delete_all", "format_disk"]}
    assert _reasons(never, given("", [made("echo")])) == ()
    assert _reasons(never, given("", [made("delete_all", {}, failed_result("denied"))])) == (
        "delete_all must not be called, but was",
    )


@pytest.mark.parametrize(
    ("answer", "content", "success"),
    [
        ("Paris", "It is sunny in PARIS.", True),
        ("Paris", "It is sunny in London.", False),
        ({"contains": "6.75"}, "$6.75", True),
        ({"matches": r"^\d+ °C$"}, "22 °C", True),
        ({"matches": "paris"}, "Paris", False),
        (["London", {"matches": "P.ris"}], "Paris", True),
        (["London", "Rome"], "Paris", False),
    ],
)
def test_the_answer_is_searched_for_any_of_the_alternatives(answer: Any, content: str, success: bool) -> None:
    assert (_reasons({"answer": answer}, given(content)) == ()) is success


def test_a_wrong_answer_is_shown_beside_what_was_expected() -> None:
    assert _reasons({"answer": ["4", {"matches": "fo+ur"}]}, given("five\n")) == (
        "the answer does not contain '4' or match 'fo+ur' (it is 'five\\n')",
    )


def test_everything_amiss_is_told_at_once() -> None:
    expect = {**WEATHER, "never": ["echo"], "answer": "sunny"}
    assert len(_reasons(expect, given("?", [made("echo")]))) == 3


def test_a_long_answer_is_cut_in_the_reason() -> None:
    (reason,) = _reasons({"answer": "4"}, given("x" * 1_000_000))
    assert len(reason) < 400
    assert "[cut: 1,000,000 characters in all]" in reason


def test_a_text_with_a_lone_surrogate_can_be_searched_and_shown() -> None:
    assert _reasons({"answer": {"matches": "a"}}, given("\ud800a")) == ()
    (reason,) = _reasons({"answer": {"matches": "b"}}, given("\ud800a"))
    reason.encode()


@pytest.mark.parametrize(
    ("expected", "actual", "fits"),
    [
        (2, 2.0, True),
        (0.3, 0.1 + 0.2, True),
        (2, 3, False),
        (1, True, False),
        (True, True, True),
        (45, "45", False),
        ("Paris", "  paris ", True),
        ("Paris", "Paris, France", False),
        (None, None, True),
        ({"contains": "paris"}, "Paris, France", True),
        ({"contains": "4"}, 4, False),
        ({"matches": "^P"}, "Paris", True),
        ({"one_of": [1, {"contains": "ris"}]}, "Paris", True),
        ({"one_of": [1, 2]}, 3, False),
        ({"equals": {"contains": "x"}}, {"contains": "x"}, True),
        ({"city": "Paris"}, {"city": "paris", "zip": 1}, True),
        ({"city": "Paris"}, {"zip": 1}, False),
        ({"city": "Paris"}, "Paris", False),
        ([1, {"contains": "a"}], [1.0, "cat"], True),
        ([1], [1, 2], False),
        ([1], 1, False),
        (10**400, 1.5, False),
    ],
)
def test_an_argument_fits_by_value_or_by_form(expected: Any, actual: Any, fits: bool) -> None:
    assert _takes(expected, actual) is fits


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(string.ascii_letters), inner, min_size=2),
    max_leaves=12,
)


@every(_values)
def test_every_value_fits_itself(value: Any) -> None:
    assert _takes(value, value)


@every(_values, _values)
def test_any_two_values_can_be_compared(expected: Any, actual: Any) -> None:
    assert _takes(expected, actual) in (True, False)
    assert _takes({"one_of": [expected, actual]}, actual)
