"""How a model writes arguments for a tool as it was shown it: by the keys of the schema that was sent, with a
null for what that requires and the tool does not."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs

_SCHEMA_KEYS = ("parameters", "parametersJsonSchema", "input_schema", "inputSchema")
_TOLD = re.compile(r"^## (.+)\n(?:.*\n)*?Arguments: (\{.*\})$", re.MULTILINE)


def shown_tools(body: Any) -> dict[str, Any]:
    """The schemas in a request, by wire name, wherever its format has them."""
    if isinstance(body, str):
        told = body.split("# Tools\n", 1)
        return {name: json.loads(schema) for name, schema in _TOLD.findall(told[-1])} if told[1:] else {}
    if isinstance(body, list):
        return {name: schema for each in body for name, schema in shown_tools(each).items()}
    if not isinstance(body, dict):
        return {}
    for key in _SCHEMA_KEYS:
        if key in body and "name" in body:
            return {body["name"]: body[key].get("json", body[key])}
    return {name: schema for each in body.values() for name, schema in shown_tools(each).items()}


def as_shown(schema: Any, shown: Any, value: Any) -> Any:
    """``value``, which fits ``schema``, as it is written by who knows only ``shown``."""
    own = schema.get("properties", {})
    if list(shown.get("properties", {})) == ["input"] and list(own) != ["input"]:
        return {"input": _Writer(schema, shown).write(schema, shown["properties"]["input"], value)}
    return _Writer(schema, shown).write(schema, shown, value)


class _Writer:
    def __init__(self, root: Any, shown_root: Any) -> None:
        self._root = root
        self._shown_root = shown_root

    def write(self, schema: Any, shown: Any, value: Any) -> Any:
        schema, shown = self._branch(schema, self._root, value), _resolved(shown, self._shown_root)
        if not isinstance(schema, dict) or not isinstance(shown, dict):
            return value
        if isinstance(value, dict):
            return self._object(schema, self._that_fits(schema, shown, value), value)
        if isinstance(value, list) and "items" in schema:
            items = self._that_fits(schema, shown, value).get("items", {})
            return [self.write(schema["items"], items, each) for each in value]
        return value

    def _object(self, schema: Any, shown: Any, value: dict[str, Any]) -> dict[str, Any]:
        own, sent = schema.get("properties", {}), shown.get("properties", {})
        if len(own) != len(sent):
            return value
        keys = dict(zip(own, sent, strict=True))
        optional = [keys[key] for key in own if key not in schema.get("required", []) and key not in value]
        written: dict[str, Any] = {key: None for key in optional if key in shown.get("required", [])}
        for key, inner in value.items():
            if key in own:
                written[keys[key]] = self.write(own[key], sent[keys[key]], inner)
            else:
                more = schema.get("additionalProperties", {}), shown.get("additionalProperties", {})
                written[key] = self.write(*more, inner)
        return written

    def _branch(self, schema: Any, root: Any, value: Any) -> Any:
        """What of ``schema`` tells of ``value``: behind references, and of its branches the one that fits."""
        schema = _resolved(schema, root)
        while isinstance(schema, dict) and (branches := _branches(schema)):
            fits = (each for each in branches if _is_valid({**each, "$defs": root.get("$defs", {})}, value))
            schema = _resolved(next(fits, {}), root)
        return schema

    def _that_fits(self, schema: Any, shown: Any, value: Any) -> Any:
        """As ``_branch`` for what was shown: by its type, for the keys may be others."""
        kind = "object" if isinstance(value, dict) else "array"
        while isinstance(shown, dict) and (branches := _branches(shown)):
            known = [_resolved(each, self._shown_root) for each in branches]
            fits = (each for each in known if kind in each.get("type", ()) or _branches(each))
            shown = next(fits, {})
        return shown


def _branches(schema: Any) -> list[Any]:
    return next(
        (schema[key] for key in ("anyOf", "oneOf", "allOf") if "type" not in schema and key in schema), []
    )


def _is_valid(schema: Any, value: Any) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(value)


def _resolved(schema: Any, root: Any) -> Any:
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        target = root
        for token in schema["$ref"].split("/")[1:]:
            target = target[token.replace("~1", "/").replace("~0", "~")]
        schema = target
    return schema
