"""What a tool's parameters may be: a JSON Schema 2020-12 object schema that is safe to validate with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.configs import load, told
from tests.support.cost import at_most
from toolspan_server.config import ToolConfig
from toolspan_server.engines.parameters._safe_schema import object_schema
from toolspan_server.problems import Faulty

pytestmark = pytest.mark.requirement("I4.4.1")

IMPLEMENTATION = {"type": "mock", "mock_response": 1}


def config_of(schema: Any) -> str:
    tool = {"name": "a", "description": "b", "parameters": schema, "implementation": IMPLEMENTATION}
    return json.dumps({"tools": {"registry": [tool]}})


def faults(schema: Any) -> list[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(Faulty) as caught:
        object_schema(schema)
    return [(fault.path, fault.message) for fault in caught.value.faults]


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        an_object(x={"type": ["string", "null"], "format": "date", "default": None}),
        {**an_object(x={"$ref": "#/$defs/p"}), "$defs": {"p": {"type": "integer", "default": 3}}},
        {**an_object(x={"$ref": "#place"}), "$defs": {"p": {"$anchor": "place"}}},
        {
            **an_object(x={"$ref": "#/properties/a~1b%20c"}),
            "properties": {"a/b c": {}, "x": {"$ref": "#/properties/a~1b%20c"}},
        },
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.com/x",
            "type": "object",
        },
        an_object(x={"pattern": "^(?=.*a)b"}, y={"const": {"$ref": "nowhere", "default": 1}}),
        {**an_object(child={"$ref": "#"}, kin={"type": "array", "items": {"$ref": "#"}})},
        {**an_object(a={"$ref": "#"}), "additionalProperties": {"$ref": "#"}},
        an_object(x={"$ref": "#/allOf/1"}) | {"allOf": [{}, {"title": "second"}]},
        {"type": "object", "unknown-keyword": 1, "required": ["x"], "additionalProperties": False},
        {"type": "object", "properties": {"$ref": {"type": "string"}, "default": {"type": "integer"}}},
    ],
)
def test_an_object_schema_is_taken_as_it_is(tmp_path: Path, schema: dict[str, Any]) -> None:
    assert load(tmp_path, config_of(schema), name="a.json").tools.registry[0].parameters == schema


def test_a_tool_without_parameters_takes_none(tmp_path: Path) -> None:
    text = "tools: {registry: [{name: a, description: b, implementation: {type: mock}}]}"
    assert load(tmp_path, text).tools.registry[0].parameters == {"type": "object", "properties": {}}


@pytest.mark.requirement("I2.2.2")
@pytest.mark.parametrize(
    ("schema", "path", "message"),
    [
        ({"properties": {}}, (), "the schema of the parameters has no type"),
        ({}, (), "the schema of the parameters has no type"),
        ({"type": "array"}, ("type",), "the schema of the parameters must have type 'object', not \"array\""),
        (
            {"type": ["object"]},
            ("type",),
            "the schema of the parameters must have type 'object', not [\"object\"]",
        ),
        ({"type": "objekt"}, ("type",), "'objekt' is not a JSON Schema type"),
        (an_object(x={"type": "strng"}), ("properties", "x", "type"), "'strng' is not a JSON Schema type"),
        (
            an_object(x={"required": True}),
            ("properties", "x", "required"),
            "'required' is a list of property names",
        ),
        (an_object(x={"pattern": "(a"}), ("properties", "x", "pattern"), "'(a' is not a regular expression"),
        (
            an_object(x={"minLength": -1}),
            ("properties", "x", "minLength"),
            "not JSON Schema 2020-12: -1 is less",
        ),
        (an_object(x=5), ("properties", "x"), "not JSON Schema 2020-12: 5 is not of types"),
        ({"type": "object", "properties": []}, ("properties",), "not JSON Schema 2020-12: [] is not of type"),
        ({"type": "object", "required": ["a", "a"]}, ("required",), "not JSON Schema 2020-12"),
        (an_object(x={"$ref": "#/$defs/no"}), ("properties", "x", "$ref"), "'#/$defs/no' leads nowhere"),
        (an_object(x={"$ref": "#no"}), ("properties", "x", "$ref"), "'#no' leads nowhere"),
        (an_object(x={"$ref": "#/type"}), ("properties", "x", "$ref"), "'#/type' leads nowhere"),
        (an_object(x={"$ref": "http://127.0.0.1:9/s"}), ("properties", "x", "$ref"), "is not in this schema"),
        (
            an_object(x={"$ref": "other.json"}),
            ("properties", "x", "$ref"),
            "'other.json' is not in this schema",
        ),
        (
            an_object(x={"$dynamicRef": "file:///etc/x"}),
            ("properties", "x", "$dynamicRef"),
            "is not in this schema",
        ),
        (an_object(x={"$id": "http://a/b"}), ("properties", "x", "$id"), "an $id inside a schema"),
        (
            {"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"},
            ("$schema",),
            "is not JSON Schema",
        ),
        (an_object(n={"type": "integer", "default": "5"}), ("properties", "n", "default"), "does not fit"),
        (an_object(d={"format": "date", "default": "soon"}), ("properties", "d", "default"), "does not fit"),
        (an_object(e={"enum": ["a"], "default": "b"}), ("properties", "e", "default"), "does not fit"),
    ],
)
def test_a_wrong_schema_is_told_where_and_why(schema: Any, path: tuple[str, ...], message: str) -> None:
    found = faults(schema)
    assert [place for place, _ in found] == [path]
    assert message in found[0][1]


def test_a_reference_past_the_end_of_a_list_leads_nowhere() -> None:
    schema = {**an_object(x={"$ref": "#/allOf/2"}, y={"$ref": "#/allOf/x"}), "allOf": [{}]}
    assert [path[1] for path, _ in faults(schema)] == ["x", "y"]


def test_references_may_lead_on_for_a_while_but_not_without_end() -> None:
    def chain(length: int) -> dict[str, Any]:
        row = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(length)}
        return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**row, f"d{length}": {}}}

    assert object_schema(chain(150))
    assert "more than 200 schemas in a row" in faults(chain(300))[0][1]


@pytest.mark.long
def test_a_schema_with_too_many_parts_in_all_is_refused_in_bounded_time() -> None:
    levels = {
        f"l{i}": {"anyOf": [{}] * 400, **an_object(x={"$ref": f"#/$defs/l{i + 1}"})} for i in range(300)
    }
    schema = {"type": "object", "$ref": "#/$defs/l0", "$defs": {**levels, "l300": {}}}
    with at_most(units=1500):
        assert "more than 100,000 schemas apply to an object" in faults(schema)[0][1]


def test_a_default_is_held_to_what_its_reference_says() -> None:
    schema = {**an_object(x={"$ref": "#/$defs/n", "default": -1}), "$defs": {"n": {"minimum": 0}}}
    assert [path for path, _ in faults(schema)] == [("properties", "x", "default")]


def test_every_fault_of_a_schema_is_told() -> None:
    schema = an_object(x={"type": "strng"}, y={"$ref": "#/no"}, z={"pattern": "("})
    assert {path[1] for path, _ in faults(schema)} == {"x", "y", "z"}


@pytest.mark.requirement("I2.2.2")
def test_a_fault_points_into_the_file(tmp_path: Path) -> None:
    text = """\
tools:
  registry:
    - name: a
      description: b
      parameters:
        properties:
          n: {type: integer, default: five}
      implementation: {type: mock}
"""
    assert told(tmp_path, text) == [
        "config.yaml:6:9: $.tools.registry[0].parameters: the schema of the parameters has no type"
        " (add type: object)",
    ]
    lines = told(tmp_path, text.replace("properties:", "type: object\n        properties:"))
    assert lines[0].startswith("config.yaml:8:39: $.tools.registry[0].parameters.properties.n.default: ")


@pytest.mark.parametrize("schema", [[], "x", True, None, 5])
def test_parameters_that_are_no_object_are_refused(tmp_path: Path, schema: Any) -> None:
    (line,) = told(tmp_path, config_of(schema), name="a.json")
    assert "$.tools.registry[0].parameters: must be an object, not " in line


def fan_out(width: int, depth: int, keyword: str = "allOf") -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{i}": {keyword: [{"$ref": f"#/$defs/d{i + 1}"}] * width} for i in range(depth)
    }
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**definitions, f"d{depth}": {"type": "object"}}}


@pytest.mark.requirement("I2.2.2")
@pytest.mark.parametrize(
    "schema",
    [
        fan_out(2, 24),
        fan_out(10, 8, "anyOf"),
        fan_out(3, 15, "oneOf"),
        {"type": "object", "$ref": "#"},
        {"type": "object", "allOf": [{"$ref": "#"}]},
        {
            "type": "object",
            "$ref": "#/$defs/a",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        },
        {
            "type": "object",
            "allOf": [{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}],
        },
        {"type": "object", "allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]},
    ],
)
def test_a_schema_without_end_or_of_exponential_cost_is_refused_at_once(schema: dict[str, Any]) -> None:
    with at_most(units=100):
        assert "too expensive to validate with" in faults(schema)[0][1]


def test_many_references_that_do_not_multiply_are_fine() -> None:
    places = {f"p{i}": {"$ref": "#/$defs/place"} for i in range(500)}
    place = {**an_object(next={"$ref": "#/$defs/place"}, city={"type": "string"})}
    schema = {**an_object(**places), "$defs": {"place": place}}
    with at_most(units=100):
        assert object_schema(schema) is schema


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "^(?=(a+)+$)x", r"^(a+)+\1$", "(a?){60}a{60}"])
def test_a_pattern_that_backtracks_does_not_hang_the_load(pattern: str) -> None:
    with at_most(units=100):
        schema = an_object(x={"type": "string", "pattern": pattern, "default": "a" * 40 + "!"})
        assert [path for path, _ in faults(schema)] == [("properties", "x", "default")]


@pytest.mark.parametrize("pattern", ["a{1000000000}", "((a{1000}){1000}){1000}"])
def test_a_pattern_that_is_too_large_is_refused(pattern: str) -> None:
    with at_most(units=100):
        assert [path for path, _ in faults(an_object(x={"pattern": pattern}))] == [
            ("properties", "x", "pattern")
        ]


def test_a_schema_that_is_built_too_deep_is_refused() -> None:
    schema = an_object()
    for _ in range(70):
        schema = an_object(x=schema)
    assert faults(schema) == [((), "nested more than 64 levels deep")]


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"x", pytest.param(10**5000, id="huge"), "\ud800"])
def test_a_schema_that_json_cannot_carry_is_refused(value: Any) -> None:
    assert faults(an_object(x={"const": value}))[0][0] == ()


def test_a_tool_built_in_code_is_held_to_the_same() -> None:
    with pytest.raises(ValidationError, match="the schema of the parameters has no type"):
        ToolConfig.model_validate(
            {
                "name": "a",
                "description": "b",
                "parameters": {"properties": {}},
                "implementation": IMPLEMENTATION,
            }
        )


NAMES = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "allOf",
        "anyOf",
        "not",
        "$ref",
        "$defs",
        "$id",
        "$anchor",
        "default",
        "enum",
        "required",
        "pattern",
        "format",
        "a",
        "b",
    ]
)
LEAVES = st.sampled_from(
    ["object", "string", "#", "#/$defs/a", "#a", "(", "date", 1, -1, 1.5, True, None, "x"]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200)
@given(schema=st.dictionaries(NAMES, SCHEMAS, max_size=5))
def test_any_schema_is_taken_or_told_why(schema: dict[str, Any]) -> None:
    try:
        taken = object_schema(schema)
    except Faulty as error:
        assert error.faults
    else:
        assert taken["type"] == "object"
