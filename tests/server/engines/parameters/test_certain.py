"""Schemas that are certainly right: what is said of them at a glance is what the compiler says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.parameters import (
    Check,
    Parameters,
    certain_fit,
    compile_schema,
    is_certain,
)
from toolspan_server.engines.parameters._safe_schema import _default_faults, _form_faults
from toolspan_server.engines.parameters._subschemas import walk

SCALARS = st.sampled_from([None, True, False, -1, 0, 1, 9, 1.5, "", "a", "b"])
TYPES = st.sampled_from(["object", "string", "integer", "number", "boolean", "array", "null", "text", 3])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES,
    "description": st.sampled_from(["what", "", 4]),
    "enum": st.lists(SCALARS, max_size=3),
    "const": SCALARS,
    "default": SCALARS,
    "minimum": SCALARS,
    "maximum": SCALARS,
    "minLength": SCALARS,
    "maxItems": SCALARS,
    "exclusiveMinimum": SCALARS,
    "required": st.lists(st.sampled_from(["a", "b", 1]), max_size=3),
    "uniqueItems": SCALARS,
    "pattern": st.sampled_from(["^a", "(", "(?=a)"]),
    "format": st.just("date"),
    "$ref": st.sampled_from(["#", "#/nowhere"]),
    "x-other": SCALARS,
}


def inside(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    parts: dict[str, st.SearchStrategy[Any]] = {
        "properties": st.dictionaries(st.sampled_from("ab"), schemas, max_size=2),
        "items": st.one_of(schemas, st.booleans()),
        "additionalProperties": st.one_of(schemas, st.booleans(), st.none()),
        "anyOf": st.lists(schemas, max_size=2),
    }
    return st.fixed_dictionaries({}, optional=parts)


SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional=VALUES),
    lambda schemas: st.builds(
        lambda own, more: {**own, **more}, st.fixed_dictionaries({}, optional=VALUES), inside(schemas)
    ),
    max_leaves=4,
)


@given(schema=SCHEMAS.map(lambda schema: {**schema, "type": "object"}))
def test_what_is_certain_compiles_and_has_no_fault(schema: dict[str, Any]) -> None:
    if is_certain(schema):
        assert _form_faults(schema, compilable=True) == []
        assert list(_default_faults(schema, list(walk(schema)))) == []


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "description": "What.", "minLength": 1},
        {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        {"type": "string", "enum": ["a", "b"], "default": "b"},
        {"type": "array", "items": {"type": "number"}},
        {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
    ],
)
def test_what_most_tools_write_is_certain(part: dict[str, Any]) -> None:
    assert is_certain({"type": "object", "properties": {"x": part}, "required": ["x"]})


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "pattern": "^a"},
        {"type": "integer", "minimum": 5, "default": 1},
        {"type": "integer", "default": True},
        {"type": "string", "enum": ["a"], "default": "b"},
        {"$ref": "#/$defs/x"},
        {"type": "strnig"},
        {"enum": []},
        {"const": "\ud800"},
        {"const": float("nan")},
        {"required": ["a", "a"]},
        {"unknown": 1},
    ],
)
def test_anything_else_is_left_to_the_compiler(part: dict[str, Any]) -> None:
    assert not is_certain({"type": "object", "properties": {"x": part}})


def test_a_schema_of_great_depth_is_left_to_the_compiler() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(40):
        schema = {"type": "object", "properties": {"x": schema}}
    assert not is_certain(schema)
    assert not is_certain({"type": "array"})


TEXTS = st.sampled_from(["", "a", "b", "ab", "\U0001f600", "\ud800"])
NUMBERS = st.sampled_from([-1, 0, 1, 2, 9, 2**53, 2**53 + 1, 2**70, 1.0, 1.5, -0.0, 1e300, float("nan")])
VALUES_GIVEN = st.recursive(
    st.one_of(st.none(), st.booleans(), TEXTS, NUMBERS),
    lambda values: st.one_of(
        st.lists(values, max_size=3), st.dictionaries(st.sampled_from("abc"), values, max_size=3)
    ),
    max_leaves=6,
)
USUAL: dict[str, st.SearchStrategy[Any]] = {
    "description": st.just("What."),
    "enum": st.lists(SCALARS | NUMBERS, min_size=1, max_size=3),
    "const": SCALARS,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), st.integers(0, 3)),
    "uniqueItems": st.booleans(),
    "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
}
OWN = st.builds(
    lambda kind, more: {**kind, **more},
    st.sampled_from(["object", "string", "integer", "number", "boolean", "array", "null"]).map(
        lambda kind: {"type": kind}
    )
    | st.just({}),
    st.dictionaries(st.sampled_from(sorted(USUAL)), st.none(), max_size=2).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: USUAL[keyword] for keyword in chosen})
    ),
)


def members(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    some = st.lists(schemas, min_size=1, max_size=2)
    parts: dict[str, st.SearchStrategy[Any]] = {
        "properties": st.dictionaries(st.sampled_from("ab"), schemas, max_size=2),
        "items": st.one_of(schemas, st.booleans()),
        "additionalProperties": st.one_of(schemas, st.booleans()),
        "anyOf": some,
        "allOf": some,
        "oneOf": some,
    }
    return st.dictionaries(st.sampled_from(sorted(parts)), st.none(), max_size=2).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: parts[keyword] for keyword in chosen})
    )


PARTS = st.recursive(
    OWN, lambda parts: st.builds(lambda own, more: {**own, **more}, OWN, members(parts)), max_leaves=4
)


@pytest.mark.requirement("I9.4.5")
@given(part=PARTS, value=VALUES_GIVEN)
def test_what_certainly_fits_is_valid_to_the_compiler(part: dict[str, Any], value: Any) -> None:
    schema = {"type": "object", "properties": {"x": part}, "required": ["x"]}
    fits = certain_fit(schema)
    if fits is not None and fits({"x": value}):
        assert compile_schema(schema).is_valid({"x": value})


FITTING: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string"}, "caf\u00e9"),
    ({"type": "string", "enum": ["a", "b"]}, "b"),
    ({"type": "string", "minLength": 1, "maxLength": 3}, "abc"),
    ({"type": "integer", "minimum": 1, "exclusiveMaximum": 5}, 4),
    ({"type": "integer", "enum": [1, 2]}, 2),
    ({"type": "number"}, 52.52),
    ({"type": "number", "exclusiveMinimum": 0}, 1),
    ({"type": "boolean"}, False),
    ({"type": "null"}, None),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
    ({"allOf": [{"type": "string"}, {"minLength": 1, "type": "string"}]}, "a"),
    ({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "number"}}}}, [{"a": 1}]),
    ({"type": "object", "additionalProperties": {"type": "string"}}, {"any": "text"}),
    ({"type": "object", "additionalProperties": False}, {}),
    ({"const": "a"}, "a"),
    ({"description": "Anything."}, [None]),
]


@pytest.mark.requirement("I9.4.5")
@pytest.mark.parametrize(("part", "value"), FITTING)
def test_what_most_callers_send_fits_at_a_glance(part: dict[str, Any], value: Any) -> None:
    fits = certain_fit({"type": "object", "properties": {"x": part}, "required": ["x"]})
    assert fits is not None
    assert fits({"x": value})
    assert not fits({})


@pytest.mark.requirement("I9.4.5")
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"type": "integer"}, 2.0),
        ({"type": "integer"}, True),
        ({"type": "integer"}, 2**70),
        ({"type": "number"}, float("nan")),
        ({"type": "number", "maximum": 3}, 3.5),
        ({"enum": [1]}, True),
        ({"const": 1}, 1.0),
        ({"enum": ["a"]}, []),
        ({"minimum": 3}, 4),
        ({"type": "array", "uniqueItems": True}, []),
        ({"type": "array", "items": {"type": "integer"}}, list(range(100))),
        ({"type": "object", "additionalProperties": False}, {"a": 1}),
        ({"type": "object"}, {1: "a"}),
        ({"oneOf": [{"type": "string"}]}, "a"),
    ],
)
def test_of_any_other_value_nothing_is_said_at_a_glance(part: dict[str, Any], value: Any) -> None:
    fits = certain_fit({"type": "object", "properties": {"x": part}})
    assert fits is not None
    assert not fits({"x": value})


def test_of_a_schema_that_is_not_certain_no_value_is_said_to_fit() -> None:
    assert certain_fit({"type": "object", "properties": {"x": {"type": "string", "format": "date"}}}) is None
    assert certain_fit({"type": "object", "required": "x"}) is None


@pytest.mark.requirement("I9.4.5")
def test_what_a_call_is_told_does_not_depend_on_the_calls_before() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer", "maximum": 3}}, "required": ["x"]}
    check = Check(schema)
    given: list[dict[str, Any]] = [{"x": 3}, {"x": 3.0}, {"x": 4}, {}, {"x": 3}]
    told = [check.faults(value) for value in given]
    assert told == [Check(schema).faults(value) for value in given]
    assert told == [[], [], ["'x' must be at most 3"], ["missing 'x'"], []]
    assert Parameters(schema).accept({"x": 3.0, "y": 1}) == {"x": 3}
