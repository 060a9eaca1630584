"""The names that a tool's arguments have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_OPEN = ("patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")


def known_parameters(schema: Mapping[str, Any]) -> list[str] | None:
    """The names of all arguments that ``schema`` defines; ``None`` when it may accept others."""
    is_open = schema.get("additionalProperties", False) is not False
    if is_open or any(keyword in schema for keyword in _OPEN):
        return None
    properties = schema.get("properties")
    return list(cast("dict[str, Any]", properties)) if isinstance(properties, dict) else []
