"""The JSON Schema of suites, generated from the models, for editors."""

from __future__ import annotations

import json
from typing import Any

from toolspan_server.config.published_schema import record_schema

from ...providers.wire.json_types import is_list, is_object
from .mocks import Mock
from .suite import Suite

__all__ = ["suite_schema", "suite_schema_text"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ONE_WAY = [
    {"required": ["query", "expect"], "properties": {"turns": False}},
    {"required": ["turns"], "properties": {"query": False, "expect": False}},
]
_DATA = ("examples", "default", "const", "enum")
_LEADING = ("name", "query", "expect", "turns")


def suite_schema() -> dict[str, Any]:
    """The JSON Schema 2020-12 of a suite's file."""
    root: dict[str, Any] = Suite.model_json_schema(mode="validation")
    definitions: dict[str, Any] = root.pop("$defs")
    definitions["Mock"], more = record_schema(Mock)
    scenario = definitions["Scenario"]
    scenario["properties"]["mocks"]["additionalProperties"] = {"$ref": "#/$defs/Mock"}
    for name in ("query", "expect"):
        (given, _null) = scenario["properties"][name].pop("anyOf")
        scenario["properties"][name] = {**given, **_without_default(scenario["properties"][name])}
    properties: dict[str, Any] = scenario["properties"]
    scenario["properties"] = {name: properties[name] for name in _LEADING} | properties
    parts = dict(sorted({**definitions, **more}.items()))
    whole: dict[str, Any] = {"$schema": _DIALECT, **root, "title": "Toolspan suite", "$defs": parts}
    scenario["oneOf"] = _ONE_WAY
    return {key: _plain(each, named=key == "$defs") for key, each in whole.items()}


def suite_schema_text() -> str:
    """``suite_schema`` as the text of ``configs/toolspan.suite.schema.json``."""
    return json.dumps(suite_schema(), indent=2, ensure_ascii=False) + "\n"


def _without_default(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != "default"}


def _plain(value: Any, *, named: bool = False) -> Any:
    """``value`` without the titles that repeat keys, and with descriptions in Markdown. ``named``: its keys
    are names, not keywords."""
    if is_list(value):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return value.replace("``", "`")
    if not is_object(value):
        return value
    return {
        key: each if key in _DATA and not named else _plain(each, named=key == "properties" and not named)
        for key, each in value.items()
        if named or key != "title"
    }
