"""What strict modes take, written apart from the package: an ``AssertionError`` is the provider's 400."""

from __future__ import annotations

import re
from typing import Any

from . import common

_SHARED = {"$defs", "$ref", "additionalProperties", "anyOf", "description", "enum", "format", "items", "type"}
_SHARED |= {"minItems", "properties", "required"}
OPENAI = _SHARED | {"exclusiveMaximum", "exclusiveMinimum", "maxItems", "maximum", "minimum"}
OPENAI |= {"multipleOf", "pattern"}
ANTHROPIC = _SHARED | {"const", "title"}
FORMATS = {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}


def check_openai(schema: Any) -> None:
    common.check_schema(schema)
    assert len(str(schema)) < 500_000
    for node in common.every_schema(schema):
        assert node.keys() <= OPENAI, node
        assert node.get("format", "date") in FORMATS
        assert not re.search(r"\(\?(<?=|<?!)", node.get("pattern", "")), "look-around is not supported"
        assert "$ref" not in node or node.keys() == {"$ref"}
        assert node.keys() & {"type", "anyOf", "$ref"}, node
        if common.says(node, "object"):
            assert node["additionalProperties"] is False
            assert sorted(node["required"]) == sorted(node["properties"])
        assert not common.says(node, "array") or isinstance(node["items"], dict)


def check_anthropic(schema: Any) -> None:
    common.check_schema(schema)
    for node in common.every_schema(schema):
        assert node.keys() <= ANTHROPIC, node
        assert node.get("format", "date") in FORMATS | {"uri"}
        assert node.get("minItems", 0) in (0, 1)
        assert isinstance(node.get("type", ""), str), node
        assert node.keys() & {"type", "anyOf", "$ref", "enum", "const"}, node
        assert not any(isinstance(value, dict | list) for value in [*node.get("enum", []), node.get("const")])
        if common.says(node, "object"):
            assert node["additionalProperties"] is False
            assert set(node.get("required", [])) <= node["properties"].keys()
    _ends(schema, schema, ())


def _ends(root: Any, node: Any, seen: tuple[str, ...]) -> None:
    if not isinstance(node, dict):
        return
    if "$ref" in node:
        assert node["$ref"] not in seen, "recursion"
        target = root
        for token in node["$ref"].split("/")[1:]:
            target = target[token.replace("~1", "/").replace("~0", "~")]
        _ends(root, target, (*seen, node["$ref"]))
    for inner in common.inside({key: value for key, value in node.items() if key != "$defs"}):
        _ends(root, inner, seen)
