"""A JSON Schema's parts, found by keyword, so that data inside ``enum`` or ``default`` is left alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from ...problems import Path

Schema = Mapping[str, Any]
Parts = Sequence[tuple[Path, Schema]]

NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
SINGLE = (
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "unevaluatedItems",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
)
LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
REFERENCES = ("$ref", "$dynamicRef")


def parts_of(schema: Schema) -> Iterator[tuple[Path, Schema]]:
    """Each schema directly inside ``schema``, with its path from there; booleans are passed over."""
    for keyword in NAMED:
        if isinstance(named := schema.get(keyword), Mapping):
            for name, part in cast("Mapping[str, Any]", named).items():
                if isinstance(part, Mapping):
                    yield (keyword, name), cast("Schema", part)
    for keyword in SINGLE:
        if isinstance(part := schema.get(keyword), Mapping):
            yield (keyword,), cast("Schema", part)
    for keyword in LISTED:
        if isinstance(listed := schema.get(keyword), list):
            for index, part in enumerate(cast("Sequence[Any]", listed)):
                if isinstance(part, Mapping):
                    yield (keyword, index), cast("Schema", part)


def walk(schema: Schema, path: Path = ()) -> Iterator[tuple[Path, Schema]]:
    """``schema`` and every schema inside it, with its path."""
    yield path, schema
    for step, part in parts_of(schema):
        yield from walk(part, (*path, *step))


def target_of(root: Schema, reference: str, anchors: Mapping[str, Any]) -> Any:
    """The schema in ``root`` that ``reference`` (``#/$defs/place``, ``#anchor``) means, else ``None``."""
    fragment = unquote(reference[1:])
    if fragment and not fragment.startswith("/"):
        return anchors.get(fragment)
    found: Any = root
    for token in fragment.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = cast("Mapping[str, Any]", found).get(key)
        elif isinstance(found, list) and key.isascii() and key.isdecimal() and len(key) < 10:
            members = cast("Sequence[Any]", found)
            found = members[int(key)] if int(key) < len(members) else None
        else:
            return None
    return cast("Any", found) if isinstance(found, Mapping | bool) else None


def anchors_of(parts: Parts) -> dict[str, Any]:
    """Those of ``parts`` that carry an ``$anchor`` or ``$dynamicAnchor``, by its name."""
    return {
        part[keyword]: part
        for _, part in parts
        for keyword in ("$anchor", "$dynamicAnchor")
        if isinstance(part.get(keyword), str)
    }
