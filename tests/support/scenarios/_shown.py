"""How a model writes arguments for a tool as it was shown it: the keys of the schema that was sent, and a null for
what it requires and the tool does not."""

from __future__ import annotations

import json
import re
from typing import Any

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
    return _as_shown(schema, shown, value, schema, shown)


def _as_shown(schema: Any, shown: Any, value: Any, root: Any, shown_root: Any) -> Any:
    schema, shown = _resolved(schema, root), _resolved(shown, shown_root)
    if not isinstance(schema, dict) or not isinstance(shown, dict):
        return value
    own, sent = schema.get("properties", {}), shown.get("properties", {})
    if list(sent) == ["input"] and list(own) != ["input"] and shown is shown_root:
        return {"input": _as_shown(schema, sent["input"], value, root, shown_root)}
    if isinstance(value, dict) and len(own) == len(sent):
        keys = dict(zip(own, sent, strict=True))
        optional = [keys[key] for key in own if key not in schema.get("required", []) and key not in value]
        forced = {key: None for key in optional if key in shown.get("required", [])}
        return forced | {
            keys.get(key, key): _as_shown(own[key], sent[keys[key]], inner, root, shown_root)
            if key in own
            else inner
            for key, inner in value.items()
        }
    if isinstance(value, list) and "items" in schema and "items" in shown:
        return [_as_shown(schema["items"], shown["items"], each, root, shown_root) for each in value]
    return value


def _resolved(schema: Any, root: Any) -> Any:
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        target = root
        for token in schema["$ref"].split("/")[1:]:
            target = target[token.replace("~1", "/").replace("~0", "~")]
        schema = target
    return schema
