"""A value that a JSON Schema describes, made up from its examples, defaults and types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_MOST_DEEP = 8
_MOST_KEYS = 50
_FORMATS = {
    "date-time": "2026-01-01T12:00:00Z",
    "date": "2026-01-01",
    "time": "12:00:00Z",
    "email": "ann@example.com",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "hostname": "example.com",
}


def sample(schema: Any, *, only_required: bool = False) -> Any:
    """A value that ``schema`` may describe: its keywords that bound a value are followed where that is easy.

    Whether it does is for the caller to check.
    """
    return _sample(schema, schema, 0, only_required)


def _sample(schema: Any, root: Any, depth: int, only_required: bool) -> Any:
    if not isinstance(schema, dict) or depth > _MOST_DEEP:
        return None
    rules = cast("dict[str, Any]", schema)
    if isinstance(rules.get("$ref"), str):
        return _sample(_referred(rules["$ref"], root), root, depth + 1, only_required)
    for key, first in (("const", False), ("default", False), ("examples", True), ("enum", True)):
        if key in rules and (not first or (isinstance(rules[key], list) and rules[key])):
            return rules[key][0] if first else rules[key]
    for key in ("anyOf", "oneOf", "allOf"):
        ways: Any = rules.get(key)
        if isinstance(ways, list) and ways:
            return _sample({**rules, key: None, **_object(ways[0])}, root, depth + 1, only_required)
    return _of_type(rules, root, depth, only_required)


def _of_type(rules: Mapping[str, Any], root: Any, depth: int, only_required: bool) -> Any:
    kind: Any = rules.get("type", "object" if "properties" in rules else None)
    if isinstance(kind, list):
        kind = next(iter(kind), None)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # of anything
    if kind == "object":
        properties = _object(rules.get("properties"))
        wanted: Any = rules.get("required", ()) if only_required else list(properties)[:_MOST_KEYS]
        names = [name for name in wanted if name in properties]
        return {name: _sample(properties[name], root, depth + 1, only_required) for name in names}
    if kind == "array":
        least = rules.get("minItems", 0 if only_required else 1)
        item = _sample(rules.get("items"), root, depth + 1, only_required)
        return [item] * min(least if isinstance(least, int) else 1, 20)
    if kind in ("integer", "number"):
        return _number(rules, integer=kind == "integer")
    if kind == "string":
        return _text(rules)
    return True if kind == "boolean" else None


def _number(rules: Mapping[str, Any], *, integer: bool) -> Any:
    step = 1 if integer else 0.5
    for key, shift in (
        ("minimum", 0),
        ("exclusiveMinimum", step),
        ("maximum", 0),
        ("exclusiveMaximum", -step),
    ):
        bound = rules.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            return bound + shift
    return 1


def _text(rules: Mapping[str, Any]) -> str:
    found = _FORMATS.get(str(rules.get("format")), "text")
    least, most = rules.get("minLength"), rules.get("maxLength")
    if isinstance(least, int) and len(found) < least <= 10_000:
        found = found.ljust(least, "x")
    return found[:most] if isinstance(most, int) and most >= 0 else found


def _referred(place: str, root: Any) -> Any:
    found = root
    for step in place.removeprefix("#").strip("/").split("/"):
        found = _object(found).get(step.replace("~1", "/").replace("~0", "~")) if step else found
    return found if place.startswith("#") else None


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
