"""Schemas that are certainly right: what is said of them at a glance is what the compiler says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.config._parameters import _default_faults, _form_faults
from toolspan_server.config._subschemas import walk
from toolspan_server.parameters import is_certain

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
