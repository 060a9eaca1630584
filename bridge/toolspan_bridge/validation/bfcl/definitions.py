"""The leaderboard's functions as tools: its types as those of JSON Schema, with its hints to the language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...providers.wire.json_types import is_object
from ..suites import StandIn
from .function_call import Language

_TYPES = {
    "dict": "object",
    "HashMap": "object",
    "Hashtable": "object",
    "float": "number",
    "double": "number",
    "tuple": "array",
    "list": "array",
    "bool": "boolean",
    "any": "string",
}
_JSON = ("array", "boolean", "integer", "number", "object", "string")
_SYNTAX: dict[Language, str] = {
    "python": "Python 3 syntax",
    "java": "Java 8 SDK syntax",
    "javascript": "JavaScript syntax",
}
_NAMES: dict[Language, str] = {"python": "Python", "java": "Java", "javascript": "JavaScript"}


def as_tool(function: Mapping[str, Any], language: Language) -> StandIn:
    """``function`` as a tool whose calls all succeed; of Java and JavaScript every argument is a text."""
    given = function.get("parameters")
    parameters: Mapping[str, Any] = given if is_object(given) else {}
    found = parameters.get("properties")
    properties: Mapping[str, Any] = found if is_object(found) else {}
    read = _schema if language == "python" else _as_text
    schema = {
        "type": "object",
        "properties": {key: read(each, language) for key, each in properties.items()},
        "required": [key for key in parameters.get("required", ()) if key in properties],
    }
    hint = f"Note that the provided function is in {_SYNTAX[language]}."
    return StandIn(str(function["name"]), f"{function.get('description', '')} {hint}", schema, "done")


def _schema(parameter: Any, language: Language) -> dict[str, Any]:
    given: Mapping[str, Any] = parameter if is_object(parameter) else {}
    kept = {key: given[key] for key in ("description", "enum", "default") if key in given}
    name = str(given.get("type", "string"))
    kind = _TYPES.get(name, name if name in _JSON else "string")
    schema: dict[str, Any] = {"type": kind, **kept}
    if kind == "array":
        schema["items"] = _schema(given.get("items"), language) if "items" in given else {}
    if kind == "object" and is_object(inner := given.get("properties")):
        schema["properties"] = {key: _schema(each, language) for key, each in inner.items()}
        if required := [key for key in given.get("required", ()) if key in inner]:
            schema["required"] = required
    return schema


def _as_text(parameter: Any, language: Language) -> dict[str, Any]:
    given: Mapping[str, Any] = parameter if is_object(parameter) else {}
    kind, name = str(given.get("type", "any")), _NAMES[language]
    hint = (
        f"This parameter can be of any type of {name} object in string representation."
        if kind == "any"
        else f"This is {name} {kind} type parameter in string representation."
    )
    if is_object(items := given.get("items")):
        hint += f" The list elements are of type {items.get('type')}; they are not in string representation."
    if kind == "dict" and "properties" in given:
        hint += (
            " The dictionary entries have the following schema; they are not in string representation. "
            + json.dumps(given["properties"], ensure_ascii=False)
        )
    return {"type": "string", "description": f"{given.get('description', '')} {hint}".strip()}
