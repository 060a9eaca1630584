"""Values made up from a JSON Schema."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from toolspan_bridge.cli.init._samples import sample

pytestmark = pytest.mark.requirement("I4.3.10")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 5}}, "required": ["a"]},
        {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 3},
        {"type": ["string", "null"], "minLength": 9, "maxLength": 9},
        {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        {"$ref": "#/$defs/p", "$defs": {"p": {"type": "number", "exclusiveMaximum": 0}}},
        {"const": {"k": 1}},
        {"type": "string", "format": "date-time"},
        {"type": "string", "examples": ["e"]},
        {"properties": {"x": {"default": 3}}},
    ],
)
def test_a_sample_is_what_the_schema_says(schema: dict[str, Any]) -> None:
    assert jsonschema_rs.is_valid(schema, sample(schema))


@pytest.mark.parametrize(
    "schema",
    [
        True,
        None,
        {"$ref": "#"},
        {"$ref": "https://example.com/x"},
        {"type": []},
        {"type": "array", "minItems": 10**9},
        {"type": "string", "minLength": 10**12},
        {"anyOf": []},
        {"properties": [], "type": "object", "required": 5},
    ],
)
def test_no_schema_costs_much_or_raises(schema: Any) -> None:
    assert len(str(sample(schema))) < 20_000
