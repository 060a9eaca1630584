"""What several providers' rules share. Written apart from the package, so that a slip there shows here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

MAPS = ("$defs", "properties", "patternProperties", "dependentSchemas")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SINGLES = (
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)


def inside(schema: Any) -> Iterator[Any]:
    """Every schema directly in ``schema``, booleans too."""
    for keyword in MAPS:
        yield from schema.get(keyword, {}).values()
    for keyword in LISTS:
        yield from schema.get(keyword, [])
    for keyword in SINGLES:
        if keyword in schema:
            yield schema[keyword]


def every_schema(schema: Any) -> Iterator[dict[str, Any]]:
    """``schema`` and everything in it, boolean ones left out."""
    if isinstance(schema, dict):
        yield schema
        for inner in inside(schema):
            yield from every_schema(inner)


def says(schema: dict[str, Any], kind: str) -> bool:
    named = schema.get("type")
    return named == kind or (isinstance(named, list) and kind in named)


def check_schema(schema: Any) -> None:
    """What all want: a 2020-12 object schema whose references are local and lead somewhere."""
    assert isinstance(schema, dict) and schema["type"] == "object" and isinstance(schema["properties"], dict)
    jsonschema_rs.meta.validate(schema)
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "$ref"} & schema.keys()
    for node in every_schema(schema):
        assert not {"$schema", "$id", "$comment", "definitions", "id"} & node.keys()
        if "$ref" in node:
            target: Any = schema
            assert node["$ref"].startswith("#")
            for token in node["$ref"].split("/")[1:]:
                target = target[token.replace("~1", "/").replace("~0", "~")]
            assert isinstance(target, dict | bool)


def check_wire(body: Any) -> None:
    """It can be written as strict JSON in UTF-8."""
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")


def check_names(names: list[str]) -> None:
    assert len({name.casefold() for name in names}) == len(names)
    assert names == sorted(set(names), key=names.index)
