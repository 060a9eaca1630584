"""Arguments that fit a schema, for tools that take any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_VALUES: Mapping[str, Any] = {
    "string": "text",
    "number": 2,
    "integer": 3,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


def arguments_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A value of its type for each required parameter of ``schema``."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    return {name: value_for(properties.get(name) or {}) for name in schema.get("required") or ()}


def value_for(schema: Mapping[str, Any]) -> Any:
    """A value of the type that ``schema`` names."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    return _VALUES[kind if isinstance(kind, str) else kind[0]]
