"""A case of the leaderboard is scored as the leaderboard's own checker scores it.

The verdicts below are those of ``bfcl_eval`` 2026.3.23, which was asked once; a test cannot ask it, for it
brings every provider's library with it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.bfcl_files import function
from toolspan_bridge.validation.bfcl import BfclCase, MadeCall

pytestmark = pytest.mark.requirement("I14.1.1")


def _fault(
    kind: Any, accepted: list[Any], value: Any, category: str = "simple_python", *, required: bool = True
) -> str:
    case = BfclCase(
        f"{category}_0",
        category,
        (),
        [function("f", ["x"] if required else [], x=kind)],
        [{"f": {"x": accepted}}],
    )
    return case.fault_of([MadeCall("f", {"x": value})])


@pytest.mark.parametrize(
    ("kind", "accepted", "value", "success"),
    [
        ("string", ["New York, NY"], "new york NY", True),
        ("string", ["New York, NY"], "New York\tNY", False),
        ("string", ["it's"], 'it"s', True),
        ("string", ["2024-01-02"], "2024/01/02", True),
        ("string", ["a", ""], "", True),
        ("integer", [5], 5, True),
        ("integer", [5], 5.0, False),
        ("integer", [5], "5", False),
        ("integer", [1], True, False),
        ("integer", ["count"], "count", True),  # a variable's name: compared as it is
        ("integer", ["count"], "Count", False),
        ("float", [5.0], 5, True),
        ("float", [5], 5, True),
        ("float", [5.5], 5.5000001, False),
        ("float", [5.0], 10**400, False),
        ("boolean", [True], True, True),
        ("boolean", [True], 1, False),
        ("boolean", [True], "true", False),
        ("any", ["a b"], "ab", True),
        ({"type": "array", "items": {"type": "string"}}, [["a b", "c"]], ["A B", "C."], True),
        ({"type": "array", "items": {"type": "string"}}, [["a", "c"]], ["c", "a"], False),
        ({"type": "array", "items": {"type": "integer"}}, [[1, 2], ""], [], True),  # "" is an empty list too
        ({"type": "array", "items": {"type": "float"}}, [[1.0, 2.0]], [1, 2], False),
        ({"type": "tuple", "items": {"type": "float"}}, [[1.0, 2.0]], [1.0, 2.0], True),
        ({"type": "array", "items": {"type": "dict"}}, [[{"a": [1], "b": ["", "x"]}]], [{"a": 1}], True),
        ({"type": "array", "items": {"type": "dict"}}, [[{"a": [1]}]], [{"a": 1}, {"a": 1}], False),
        ({"type": "array", "items": {"type": "dict"}}, [[{"a": [1]}]], [{"a": 2}], False),
        ("dict", [{"a": ["New York"], "b": [1, ""]}], {"a": "newyork"}, True),
        ("dict", [{"a": ["New York"], "b": [1]}], {"a": "newyork"}, False),
        ("dict", [{"a": [1]}], {"a": 1, "z": 2}, False),
        ("dict", ["", {"a": [1]}], {"a": 1}, True),
        ("dict", [{"a": [1]}], [1], False),
        ("string", ["x"], None, False),
    ],
)
def test_a_value_is_accepted_as_the_checker_accepts_it(
    kind: Any, accepted: list[Any], value: Any, success: bool
) -> None:
    assert (not _fault(kind, accepted, value)) == success


@pytest.mark.parametrize(
    ("kind", "accepted", "value", "success"),
    [
        ("integer", [5], "5", True),
        ("integer", [5], 5, False),
        ("integer", [5], "5L", False),
        ("long", [5], "5L", True),
        ("long", [5], "5", False),
        ("float", [3.14], "3.14f", True),
        ("double", [3.14], "3.14f", False),
        ("boolean", [True], "true", True),
        ("boolean", [True], "True", False),
        ("char", ["'a'"], "'A'", True),
        ("String", ["a"], '"a"', False),
        ("any", ["map"], "map", True),
        (
            {"type": "ArrayList", "items": {"type": "String"}},
            [["a", "b"]],
            'new ArrayList<String>(Arrays.asList("a", "b"))',
            True,
        ),
        (
            {"type": "ArrayList", "items": {"type": "integer"}},
            [[1, 2]],
            "new ArrayList<>() {{ add(1); add(2); }}",
            True,
        ),
        ({"type": "ArrayList", "items": {"type": "integer"}}, [[]], "new ArrayList<Integer>()", True),
        ({"type": "Array", "items": {"type": "long"}}, [[1, 2]], "new long[] {1L, 2L}", True),
        ({"type": "Array", "items": {"type": "long"}}, [[1, 2]], "[1, 2]", False),
        ("HashMap", [{"a": [1], "b": ["x"]}], 'new HashMap<>() {{ put("a", 1); put("b", "X"); }}', True),
        ("HashMap", [{"a": [1, ""]}], "new HashMap<String, Integer>()", True),
        ("Set", [[1]], "new HashSet<>()", False),
    ],
)
def test_java_values_are_read_out_of_text(kind: Any, accepted: list[Any], value: Any, success: bool) -> None:
    assert (not _fault(kind, accepted, value, "simple_java")) == success


@pytest.mark.parametrize(
    ("kind", "accepted", "value", "success"),
    [
        ("integer", [5], "5", True),
        ("float", [5.0], "5", True),
        ("float", [5.0], "5e0", False),
        ("Bigint", [5], "5n", True),
        ("Bigint", [5], "5", False),
        ("Boolean", [False], "false", True),
        ("String", ["a"], "'a'", True),
        ("String", ["a"], "a", True),
        ("String", ["a"], 7, False),
        ({"type": "array", "items": {"type": "String"}}, [["a", "b"]], "['a', \"b\"]", True),
        ({"type": "array", "items": {"type": "integer"}}, [[1, 2]], "new Array(1, 2)", True),
        ({"type": "array", "items": {"type": "array"}}, [[[1, 2], [3]]], "[[1, 2], [3]]", True),
        ("dict", [{"a": [1], "b": [[1, 2]]}], "{a: 1, 'b': [1, 2]}", True),
        ("dict", [{"a": ["x, y"]}], "{a: 'x, y'}", True),
        ("dict", [{}], "{}", True),
        ("dict", [{"a": [1]}], "{a = 1}", False),
    ],
)
def test_javascript_values_are_read_out_of_text(
    kind: Any, accepted: list[Any], value: Any, success: bool
) -> None:
    assert (not _fault(kind, accepted, value, "simple_javascript")) == success


def test_what_opens_many_brackets_is_read_in_linear_time() -> None:
    kind = {"type": "array", "items": {"type": "array"}}
    text = "[" + "[1]," * 20_000
    assert "is no list" in _fault(kind, [[[1]]], text, "simple_javascript")


def _case(category: str, accepted: list[Any]) -> BfclCase:
    functions = [function("f.a", ["x"], x="integer"), function("g", [], y="string")]
    return BfclCase(f"{category}_0", category, (), functions, accepted)


def _made(*calls: tuple[str, dict[str, Any]]) -> list[MadeCall]:
    return [MadeCall(name, arguments) for name, arguments in calls]


def test_missing_unexpected_and_optional_arguments() -> None:
    case = _case("multiple", [{"g": {"y": ["a"]}}])
    assert case.fault_of(_made(("g", {"y": "A"}))) == ""
    assert case.fault_of(_made(("g", {}))) == "argument 'y' is missing, and may not be left out here"
    assert case.fault_of(_made(("g", {"y": "a", "z": 1}))) == "argument 'z' is not expected"
    assert _case("multiple", [{"g": {"y": ["a", ""]}}]).fault_of(_made(("g", {}))) == ""
    absent = _case("multiple", [{"f.a": {"x": [1, ""]}}]).fault_of(_made(("f.a", {})))
    assert absent == "the required argument 'x' is missing"


def test_one_call_is_expected_where_nothing_is_parallel() -> None:
    case = _case("multiple", [{"g": {"y": ["a"]}}])
    assert case.fault_of([]) == "0 calls were made, expected 1"
    assert case.fault_of(_made(("g", {"y": "a"}), ("g", {"y": "a"}))).startswith("2 calls were made")
    assert case.fault_of(_made(("f.a", {"x": 1}))) == "wrong tool 'f.a' for 'g'"


def test_parallel_calls_are_taken_in_any_order() -> None:
    case = _case("parallel_multiple", [{"f.a": {"x": [1]}}, {"f.a": {"x": [2]}}, {"g": {"y": ["a", ""]}}])
    right = _made(("g", {}), ("f.a", {"x": 2}), ("f.a", {"x": 1}))
    assert case.fault_of(right) == ""
    assert "no call fits the expected 'f.a'" in case.fault_of([right[0], right[1], right[1]])
    assert case.fault_of(right[:2]).startswith("2 calls were made")


def test_parallel_matching_is_the_checkers_which_takes_the_first_call_that_fits() -> None:
    case = _case("parallel", [{"f.a": {"x": [1, 2]}}, {"f.a": {"x": [1]}}])
    assert case.fault_of(_made(("f.a", {"x": 2}), ("f.a", {"x": 1}))) == ""
    assert case.fault_of(_made(("f.a", {"x": 1}), ("f.a", {"x": 2})))


def test_calls_that_are_equal_as_numbers_only_are_told_apart() -> None:
    case = _case("parallel", [{"f.a": {"x": [1]}}, {"f.a": {"x": [1]}}])
    assert "was 1.0" in case.fault_of(_made(("f.a", {"x": 1.0}), ("f.a", {"x": 1})))


@pytest.mark.parametrize("category", ["irrelevance", "live_irrelevance"])
def test_irrelevance_wants_no_call(category: str) -> None:
    case = _case(category, [])
    assert case.fault_of([]) == ""
    assert case.fault_of(None) == ""
    assert case.fault_of(_made(("g", {}))) == "no function was to be called, but 'g' was"


def test_relevance_wants_any_call() -> None:
    case = _case("live_relevance", [])
    assert case.fault_of(_made(("unknown", {"z": 1}))) == ""
    assert case.fault_of([]) == case.fault_of(None) == "a function was to be called, but none was"


def test_a_call_without_an_object_of_arguments_spoils_the_answer() -> None:
    assert "no object of arguments" in _case("multiple", [{"g": {"y": ["a"]}}]).fault_of(None)


def test_a_dot_in_a_name_is_an_underscore_where_the_model_takes_none() -> None:
    case = _case("simple_python", [{"f.a": {"x": [1]}}])
    assert case.fault_of(_made(("f.a", {"x": 1}))) == ""
    assert case.fault_of(_made(("f_a", {"x": 1}))) == "wrong tool 'f_a' for 'f.a'"
    assert case.fault_of(_made(("f_a", {"x": 1})), underscored=True) == ""
    assert case.fault_of(_made(("f.a", {"x": 1})), underscored=True)


def test_what_the_checker_cannot_decide_is_said_and_is_no_success() -> None:
    why = _fault("Set", [[1]], "new HashSet<>()", "simple_java")
    assert why == "BFCL's checker ends with an error: values of the Java type 'Set' are not converted"
    assert "the type 'decimal' is not known" in _fault("decimal", [1], 1)


def test_reasons_say_what_was_expected() -> None:
    assert _fault("string", ["C", "F", ""], "K") == "argument 'x' was 'K', expected one of ['C', 'F']"
    assert _fault("integer", [1], "1") == "argument 'x' was '1', which is no integer"
