"""Arguments held to a tool's schema: what is accepted, what is passed on, how faults read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_server.engines.parameters import MAX_BYTES, MAX_VALUES, Parameters, compile_schema
from toolspan_server.errors import InvalidParameters

pytestmark = pytest.mark.requirement("I4.4.1")

WEATHER = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "units": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": "integer"},
    },
    "required": ["location"],
}


def properties(**schemas: Any) -> Parameters:
    return Parameters({"type": "object", "properties": schemas})


def fault(parameters: Parameters, arguments: Any) -> str:
    with pytest.raises(InvalidParameters) as raised:
        parameters.accept(arguments)
    return raised.value.error.removeprefix("Invalid parameters: ")


@pytest.mark.requirement("I2.3.2")
def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(InvalidParameters, match=r"^Invalid parameters: missing 'location'$"):
        Parameters(WEATHER).accept({})


@pytest.mark.requirement("I2.3.2")
def test_every_fault_is_named_in_one_message() -> None:
    told = fault(Parameters(WEATHER), {"units": "kelvin", "days": "5"})
    assert "missing 'location'" in told
    assert "'units' must be one of: celsius, fahrenheit" in told
    assert "'days' must be an integer (got a string)" in told


@pytest.mark.requirement("I2.3.2")
def test_several_missing_parameters_are_joined_by_a_comma() -> None:
    parameters = Parameters({"type": "object", "required": ["a", "b"]})
    assert fault(parameters, {}) == "missing 'a', missing 'b'"


@pytest.mark.requirement("I2.3.2")
@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"type": "integer"}, True, "'x' must be an integer (got a boolean)"),
        ({"type": "integer"}, "5", "'x' must be an integer (got a string)"),
        ({"type": "integer"}, 2.5, "'x' must be an integer (got a number)"),
        ({"type": "string"}, None, "'x' must be a string (got null)"),
        ({"type": ["integer", "null"]}, [], "'x' must be an integer or null (got an array)"),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            {},
            "'x' must be an integer or null (got an object)",
        ),
        ({"enum": ["a", "1", 1, ""]}, 2, """'x' must be one of: a, "1", 1, \"\""""),
        ({"const": 3}, 4, "'x' must be 3"),
        ({"format": "email"}, "nobody", "'x' must be a valid email"),
        ({"format": "date-time"}, "noon", "'x' must be a valid date-time"),
        ({"pattern": "^a+$"}, "b", "'x' must match the pattern ^a+$"),
        ({"minimum": 3}, 2, "'x' must be at least 3"),
        ({"exclusiveMaximum": 3}, 3, "'x' must be less than 3"),
        ({"multipleOf": 5}, 7, "'x' must be a multiple of 5"),
        ({"minLength": 1}, "", "'x' must have at least 1 character"),
        ({"maxItems": 2}, [1, 2, 3], "'x' must have at most 2 items"),
        ({"uniqueItems": True}, [1, 1], "'x' must not hold the same item twice"),
        ({"minProperties": 2}, {"a": 1}, "'x' must have at least 2 fields"),
        ({"not": {"type": "string"}}, "s", "'x' has a form that the schema excludes"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 3, "'x' fits more than one of the forms"),
        (False, 1, "'x' is not allowed"),
    ],
)
def test_a_fault_says_what_the_parameter_must_be(schema: Any, value: Any, told: str) -> None:
    assert fault(properties(x=schema), {"x": value}).startswith(told)


def test_alternatives_are_told_with_what_each_lacks() -> None:
    parameters = properties(x={"anyOf": [{"type": "integer"}, {"type": "object", "required": ["id"]}]})
    assert fault(parameters, {"x": {}}) == (
        "'x' fits none of its forms ('x' must be an integer (got an object); or missing 'x.id')"
    )


@pytest.mark.requirement("I2.3.2")
def test_a_nested_fault_names_its_path() -> None:
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["zip"]}
    parameters = properties(address=city, items={"type": "array", "items": {"type": "integer"}})
    told = fault(parameters, {"address": {"city": 1}, "items": [1, 2, "x"]})
    assert "'address.city' must be a string (got an integer)" in told
    assert "missing 'address.zip'" in told
    assert "'items[2]' must be an integer (got a string)" in told


def test_past_twenty_faults_only_their_number_is_told() -> None:
    parameters = properties(x={"type": "array", "items": {"type": "string"}})
    told = fault(parameters, {"x": list(range(50))})
    assert told.count("must be a string") == 20
    assert told.endswith(", and 30 more")


def test_a_fault_never_repeats_a_huge_value() -> None:
    parameters = properties(x={"type": "string", "enum": ["a"], "pattern": "b" * 1000, "maxLength": 3})
    assert len(fault(parameters, {"x": "y" * 100_000})) < 1_000


@pytest.mark.requirement("I2.3.3")
def test_parameters_that_the_schema_does_not_define_are_left_out() -> None:
    assert Parameters(WEATHER).accept({"location": "Paris", "mood": "good"}) == {
        "location": "Paris",
        "units": "celsius",
    }


@pytest.mark.requirement("I2.3.3")
def test_unknown_parameters_are_faults_where_the_schema_forbids_them() -> None:
    parameters = Parameters({**WEATHER, "additionalProperties": False})
    told = fault(parameters, {"location": "Paris", "mood": 1, "x": 2})
    assert told == "unknown parameter 'mood', unknown parameter 'x'"


@pytest.mark.requirement("I2.3.3")
@pytest.mark.parametrize(
    "more",
    [
        {"additionalProperties": True},
        {"additionalProperties": {"type": "integer"}},
        {"unevaluatedProperties": {"type": "integer"}},
        {"allOf": [{"additionalProperties": True}]},
    ],
)
def test_nothing_is_left_out_where_the_schema_rules_over_additional_parameters(more: dict[str, Any]) -> None:
    assert Parameters({**WEATHER, **more}).accept({"location": "Paris", "x": 1})["x"] == 1


@pytest.mark.requirement("I2.3.3")
@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^k": {}}},
        {"allOf": [{"properties": {"kept": {}}}]},
        {"anyOf": [{"properties": {"kept": {}}}, {}]},
        {"if": {"properties": {"kept": {}}}, "then": {}},
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": {"properties": {"kept": {}}}}},
        {"$ref": "#named", "$defs": {"a": {"$anchor": "named", "properties": {"kept": {}}}}},
        {"dependentSchemas": {"other": {"properties": {"kept": {}}}}},
        {"required": ["kept"]},
        {"dependentRequired": {"other": ["kept"]}},
    ],
)
def test_a_parameter_is_defined_wherever_the_schema_speaks_of_it(schema: dict[str, Any]) -> None:
    assert Parameters({"type": "object", **schema}).accept({"kept": 1, "dropped": 2}) == {"kept": 1}


@pytest.mark.requirement("I2.3.3")
def test_a_float_that_is_whole_is_passed_on_as_an_integer_where_one_is_due() -> None:
    parameters = Parameters(
        {
            "type": "object",
            "$defs": {"whole": {"type": "integer"}},
            "properties": {
                "count": {"type": "integer"},
                "maybe": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
                "many": {
                    "type": "array",
                    "prefixItems": [{"type": "number"}],
                    "items": {"$ref": "#/$defs/whole"},
                },
                "size": {"type": "number"},
                "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
                "named": {"type": "object", "patternProperties": {"^n": {"type": ["integer", "null"]}}},
            },
        }
    )
    accepted = parameters.accept(
        {
            "count": 2.0,
            "maybe": 3.0,
            "many": [1.0, 4.0],
            "size": 5.0,
            "limits": {"a": 6.0},
            "named": {"n": 7.0},
        }
    )
    assert repr(accepted) == repr(
        {"count": 2, "maybe": 3, "many": [1.0, 4], "size": 5.0, "limits": {"a": 6}, "named": {"n": 7}}
    )


@pytest.mark.requirement("I2.3.3")
def test_defaults_are_filled_in_also_in_nested_objects() -> None:
    address = {"type": "object", "properties": {"country": {"default": "FR"}}, "default": {}}
    parameters = Parameters(
        {
            "type": "object",
            "$defs": {"address": address, "page": {"type": "integer", "default": 1}},
            "properties": {
                "home": {"$ref": "#/$defs/address"},
                "work": {"type": "object", "properties": {"country": {"default": "DE"}}},
                "page": {"$ref": "#/$defs/page"},
                "rows": {"type": "array", "items": address},
                "choice": {
                    "oneOf": [{"type": "integer"}, {"type": "object", "properties": {"k": {"default": 0}}}]
                },
            },
            "if": {"required": ["rows"]},
            "then": {"properties": {"order": {"default": "up"}}},
            "else": {"properties": {"order": {"default": "none"}}},
        }
    )
    assert parameters.accept({"rows": [{}], "choice": {}}) == {
        "home": {"country": "FR"},
        "page": 1,
        "rows": [{"country": "FR"}],
        "choice": {"k": 0},
        "order": "up",
    }
    assert parameters.accept({"work": {}})["work"] == {"country": "DE"}
    assert parameters.accept({})["order"] == "none"


def test_a_handler_that_changes_a_default_does_not_change_the_schema() -> None:
    parameters = properties(tags={"type": "array", "default": []})
    parameters.accept({})["tags"].append("x")
    assert parameters.accept({}) == {"tags": []}


def test_a_recursive_schema_is_finished_to_the_leaves() -> None:
    node = {
        "type": "object",
        "properties": {"n": {"type": "integer", "default": 0}, "next": {"$ref": "#/$defs/node"}},
    }
    parameters = Parameters({"$defs": {"node": node}, "$ref": "#/$defs/node", "type": "object"})
    assert parameters.accept({"next": {"n": 2.0, "next": {}}}) == {"n": 0, "next": {"n": 2, "next": {"n": 0}}}


def test_defaults_without_end_are_a_fault_and_no_crash() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node", "default": {}}}}
    parameters = Parameters({"$defs": {"node": node}, "$ref": "#/$defs/node", "type": "object"})
    assert "defaults" in fault(parameters, {})


@pytest.mark.requirement("I2.3.3")
def test_a_schema_is_compiled_once() -> None:
    assert compile_schema({"type": "object", "title": "once"}) is compile_schema(
        {"type": "object", "title": "once"}
    )


@pytest.mark.requirement("I2.3.3")
def test_a_remote_reference_is_never_fetched() -> None:
    with pytest.raises(ValueError, match="does not refer to a schema in this one"):
        Parameters({"type": "object", "$ref": "http://127.0.0.1:9/schema.json"}).accept({})


def test_a_pattern_with_lookahead_is_bounded_and_others_are_linear() -> None:
    with at_most(units=100):
        linear = properties(x={"type": "string", "pattern": "^(a+)+$"})
        bounded = properties(x={"type": "string", "pattern": "^(a+)+(?!b)$"})
        hostile = {"x": "a" * 900_000 + "c"}
        assert "must match the pattern" in fault(linear, hostile)
        assert "limit of 25,000,000 steps" in fault(bounded, hostile)
        assert fault(bounded, {"x": "a" * 200 + "b"}).startswith("'x' must match the pattern")


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"x": "y" * MAX_BYTES}, f"larger than the limit of {MAX_BYTES:,} bytes"),
        ({"x": ["y" * 1000] * 1001}, f"larger than the limit of {MAX_BYTES:,} bytes"),
        ({"x": [0] * 100_000}, f"larger than the limit of {MAX_VALUES:,} values"),
        ({"k" * 200_000: 1}, "is a name of 200,000 characters"),
        ({"": 1}, "is a name of 0 characters"),
        ({"x": deep(100_000)}, "is nested more than 64 levels deep"),
        ({"x": float("nan")}, "'x' is NaN"),
        ({"x": {"y": [float("-inf")]}}, "'x.y[0]' is -Infinity"),
        ({"x": 10**5000}, "'x' is an integer of more than 4,000 digits"),
        ({"x": "a\ud800"}, "'x' holds half of a surrogate pair"),
        ({"\ud800": 1}, "holds half of a surrogate pair"),
        ({"x": {1, 2}}, "'x' is of the Python type set"),
        ({1.5: 2}, "is a key of the Python type float"),
        ([1], "the arguments must be an object (got an array)"),
        ("text", "the arguments must be an object (got a string)"),
    ],
)
def test_hostile_arguments_are_refused_quickly_in_few_words(arguments: Any, told: str) -> None:
    parameters = Parameters({"type": "object", "properties": {"x": {}}})
    with at_most(units=100):
        words = fault(parameters, arguments)
    assert told in words
    assert len(words) < 500
    words.encode()


def test_the_largest_arguments_are_accepted() -> None:
    parameters = Parameters({"type": "object", "additionalProperties": True})
    assert len(parameters.accept({"x": "y" * (MAX_BYTES - 10)})["x"]) == MAX_BYTES - 10
    assert len(parameters.accept({"x": [0] * (MAX_VALUES - 2)})["x"]) == MAX_VALUES - 2
    assert parameters.accept({"x": deep(63), "y": 10**3999})["y"] == 10**3999


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["location", "units", "days", "other", ""]), values))
def test_any_arguments_are_accepted_or_refused_as_invalid(arguments: dict[str, Any]) -> None:
    parameters = Parameters(WEATHER)
    try:
        accepted = parameters.accept(arguments)
    except InvalidParameters as refusal:
        assert refusal.faults
        refusal.error.encode()
    else:
        assert set(accepted) <= {"location", "units", "days"}
        assert isinstance(accepted["location"], str)
        assert parameters.accept(accepted) == accepted


def test_a_form_whose_pattern_looks_around_still_gets_its_defaults() -> None:
    schema = {
        "type": "object",
        "properties": {
            "value": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "id": {"pattern": "^(?!x)y"},
                            "count": {"type": "integer", "default": 3},
                        },
                    },
                    {"type": "string"},
                ]
            }
        },
    }
    assert Parameters(schema).accept({"value": {"id": "y"}}) == {"value": {"id": "y", "count": 3}}
