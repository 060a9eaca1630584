from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_bridge.loop._arguments import Checker
from toolspan_bridge.messages import ToolSpec
from toolspan_server.engines.parameters import Check

pytestmark = pytest.mark.requirement("I2.6.4")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "location": {"type": "string", "maxLength": 10},
        "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer"},
        "when": {"type": "string", "format": "date"},
        "stops": {"type": "array", "items": {"type": "object", "required": ["name"]}},
    },
    "required": ["location"],
}


def faults(arguments: dict[str, Any], schema: dict[str, Any] = SCHEMA) -> list[str]:
    return Checker().faults(ToolSpec("s", "t", "", schema), arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"location": "Paris"}, []),
        ({"location": "Paris", "days": 2.0, "extra": 1}, []),
        ({}, ["missing 'location'"]),
        ({"location": 5}, ["'location' must be a string (got an integer)"]),
        ({"location": "P", "days": True}, ["'days' must be an integer (got a boolean)"]),
        ({"location": "P", "units": "kelvin"}, ["'units' must be one of: celsius, fahrenheit"]),
        ({"location": "P", "when": "soon"}, ["'when' must be a valid date"]),
        ({"location": "P", "stops": [{}]}, ["missing 'stops[0].name'"]),
        ({"days": "x"}, ["missing 'location'", "'days' must be an integer (got a string)"]),
    ],
)
def test_every_fault_is_told_with_its_parameter(arguments: dict[str, Any], expected: list[str]) -> None:
    assert sorted(faults(arguments)) == sorted(expected)


def test_unknown_parameters_are_faults_only_where_the_schema_says_so() -> None:
    assert faults({"location": "P", "x": 1}, {**SCHEMA, "additionalProperties": False}) == [
        "unknown parameter 'x'"
    ]


def test_a_missing_parameter_that_has_a_default_is_left_to_the_server() -> None:
    schema = {"type": "object", "properties": {"n": {"default": 5}, "m": {}}, "required": ["n", "m"]}
    assert faults({}, schema) == ["missing 'm'"]


def test_many_faults_are_counted_and_not_all_told() -> None:
    schema = {"type": "object", "required": [f"p{number}" for number in range(50)]}
    told = faults({}, schema)
    assert len(told) == 21 and told[-1] == "and 30 more"


def fan_out(depth: int) -> dict[str, Any]:
    layers: dict[str, Any] = {"l0": {"type": "object"}}
    for number in range(1, depth):
        layers[f"l{number}"] = {"allOf": [{"$ref": f"#/$defs/l{number - 1}"}] * 2}
    return {"type": "object", "$defs": layers, "$ref": f"#/$defs/l{depth - 1}"}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"type": "object", "$ref": "#"}, {}),
        ({"type": "object", "$ref": "https://example.com/schema"}, {}),
        ({"type": "object", "$ref": "#/nowhere"}, {}),
        ({"type": "no such type"}, {}),
        ({"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}, {"a": "a" * 40}),
        ({"type": "object", "properties": {"a": {"pattern": "^(?=(a+)+$).*"}}}, {"a": "a" * 40 + "!"}),
        (fan_out(64), {}),
        (fan_out(3_000), {}),
        ({"type": "object", "allOf": [{"$ref": "#"}, {"$ref": "#"}]}, {}),
    ],
)
def test_a_hostile_schema_is_answered_soon_and_fetches_nothing(schema: Any, arguments: Any) -> None:
    with at_most(units=100):
        assert faults(arguments, schema) == [] or "pattern" in str(schema)


def test_a_pattern_with_a_lookahead_still_counts() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=x)"}}}
    assert faults({"a": "xy"}, schema) == []
    assert len(faults({"a": "y"}, schema)) == 1


def test_a_schema_is_compiled_once() -> None:
    checker = Checker()
    schema = dict(SCHEMA)
    spec = ToolSpec("s", "t", "", schema)
    assert checker.faults(spec, {}) == ["missing 'location'"]
    schema.clear()
    assert checker.faults(spec, {}) == ["missing 'location'"]


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_any_arguments_get_an_answer(arguments: dict[str, Any]) -> None:
    assert all(isinstance(fault, str) and fault for fault in faults(arguments))


@pytest.mark.requirement("I9.1.3")
def test_a_check_that_would_take_long_is_left_to_the_server() -> None:
    form = {"type": "object", "required": ["a", "b"]}
    schema = {"type": "object", "properties": {"u": {"type": "array", "items": {"oneOf": [form] * 30}}}}
    spec, checker = ToolSpec("s", "t", "", schema), Checker()
    with at_most(units=200):
        assert checker.faults(spec, {"u": [{}] * 9_000}) == []
    assert len(checker.faults(spec, {"u": [{}]})) == 1


@pytest.mark.requirement("I9.1.4")
def test_a_schema_that_changed_is_compiled_again() -> None:
    checker = Checker()
    for wanted, faults in (("string", 1), ("integer", 0), ("string", 1)):
        spec = ToolSpec("s", "t", "", {"type": "object", "properties": {"n": {"type": wanted}}})
        assert len(checker.faults(spec, {"n": 1})) == faults


@pytest.mark.requirement("I10.4.7")
@pytest.mark.parametrize(
    "arguments",
    [
        {"location": 5},
        {"location": "P" * 11},
        {"location": "P", "units": "kelvin", "when": "soon"},
        {"stops": [{}]},
    ],
)
def test_a_model_reads_the_words_that_the_server_has_for_the_same(arguments: dict[str, Any]) -> None:
    told = faults(arguments)
    assert told
    assert sorted(told) == sorted(Check(SCHEMA).faults(arguments))
