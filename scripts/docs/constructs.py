"""What schemas are made of: the samples of docs/reference/formats.md."""

from __future__ import annotations

from typing import Any

CONSTRUCTS: list[tuple[str, Any]] = [
    ("anyOf", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ("oneOf", {"oneOf": [{"type": "string"}, {"type": "integer"}]}),
    ("allOf", {"allOf": [{"type": "string"}, {"enum": ["a", "b"]}]}),
    ("not", {"type": "string", "not": {"enum": ["a"]}}),
    ("if, then, else", {"type": "integer", "if": {"minimum": 1}, "then": {"maximum": 5}}),
    ("additionalProperties: false", {"type": "object", "properties": {}, "additionalProperties": False}),
    ("a map", {"type": "object", "additionalProperties": {"type": "string"}}),
    ("patternProperties", {"type": "object", "patternProperties": {"^x": {"type": "string"}}}),
    ("an optional property", {"type": "object", "properties": {"a": {"type": "string"}}}),
    ("a nullable type", {"type": ["string", "null"]}),
    ("enum of strings", {"type": "string", "enum": ["a", "b"]}),
    ("enum of other values", {"enum": [True, {"a": 1}]}),
    ("const", {"const": "a"}),
    ("default", {"type": "string", "default": "a"}),
    ("format", {"type": "string", "format": "uri"}),
    ("bounds", {"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
    ("length", {"type": "string", "minLength": 1, "maxLength": 9}),
    ("pattern", {"type": "string", "pattern": "^a"}),
    ("an array without items", {"type": "array"}),
    ("a tuple", {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
    ("a tuple of draft 7", {"type": "array", "items": [{"type": "string"}]}),
    ("bounds of draft 4", {"type": "integer", "minimum": 1, "exclusiveMinimum": True}),
    ("true", True),
    ("false", False),
    ("a vendor's keyword", {"type": "string", "x-order": 1}),
    ("a reference", {"$ref": "#/$defs/Name"}),
    ("a reference with a description", {"$ref": "#/$defs/Name", "description": "Whose?"}),
    ("a recursive reference", {"$ref": "#/$defs/Tree"}),
    ("a reference out of the schema", {"$ref": "https://example.com/name.json"}),
    ("a dangling reference", {"$ref": "#/$defs/Nobody"}),
    ("an invalid schema", {"type": "text"}),
]
DEFINITIONS: dict[str, Any] = {
    "Name": {"type": "string"},
    "Tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}},
}
