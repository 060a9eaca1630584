"""What Ollama's ``/api/chat`` takes, and what its server keeps of a schema."""

from __future__ import annotations

import base64
from typing import Any

from . import common

ROOT = {"type", "$defs", "items", "required", "properties"}
PROPERTY = {"anyOf", "type", "items", "description", "enum", "properties", "required"}


def check_schema(schema: Any) -> None:
    """Nothing in it is dropped silently, and no reference is left."""
    common.check_schema(schema)
    assert schema.keys() <= ROOT
    assert all("$ref" not in node for node in common.every_schema(schema))
    for inner in schema["properties"].values():
        _check_property(inner)


def _check_property(schema: Any) -> None:
    assert isinstance(schema, dict), "true and false do not decode"
    assert schema.keys() <= PROPERTY, schema.keys() - PROPERTY
    assert "items" in schema or not common.says(schema, "array")
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", [])):
        _check_property(inner)


def check_request(body: Any) -> None:
    common.check_wire(body)
    assert body.keys() <= {"format", "messages", "model", "options", "stream", "think", "tools"}
    assert isinstance(body["stream"], bool), "left out, it would be a stream"
    assert body.get("tools") != []
    assert "format" not in body or ("tools" not in body and isinstance(body["format"], dict)), (
        "it binds calls"
    )
    _check_think(body)
    common.check_names([tool["function"]["name"] for tool in body.get("tools", [])])
    for tool in body.get("tools", []):
        assert tool["function"].keys() == {"name", "description", "parameters"}
        check_schema(tool["function"]["parameters"])
    waiting: list[tuple[str, str]] = []
    for message in body["messages"]:
        assert isinstance(message["content"], str)
        assert isinstance(message.get("thinking", ""), str)
        if message["role"] == "tool":
            assert (message["tool_call_id"], message["tool_name"]) == waiting.pop(0)
            continue
        assert not waiting, "every call is answered before anything else"
        for call in message.get("tool_calls", []):
            assert isinstance(call["function"]["arguments"], dict)
            waiting.append((call["id"], call["function"]["name"]))
        for image in message.get("images", []):
            assert message["role"] == "user" and base64.b64decode(image, validate=True)
    assert not waiting, "every call is answered"


def _check_think(body: Any) -> None:
    think = body.get("think", True)
    assert think in ("low", "medium", "high") or isinstance(think, bool), "the server knows no other"
    if "gpt-oss" in body["model"]:
        assert "think" not in body or isinstance(think, str), "it takes levels only"
