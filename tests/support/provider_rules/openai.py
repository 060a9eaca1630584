"""What Chat Completions takes: refuses with an ``AssertionError`` what the API would answer with a 400."""

from __future__ import annotations

import re
from typing import Any

from . import common

KEYS = {"max_completion_tokens", "messages", "model", "temperature", "tool_choice", "tools"}


def check_schema(schema: Any) -> None:
    common.check_schema(schema)
    for node in common.every_schema(schema):
        assert "items" in node or not common.says(node, "array"), node
        assert "properties" in node or not common.says(node, "object"), node
        booleans = [k for k in common.SINGLES if isinstance(node.get(k), bool)]
        assert set(booleans) <= {"additionalProperties", "unevaluatedItems", "unevaluatedProperties"}


def check_request(body: Any) -> None:
    common.check_wire(body)
    assert body.keys() <= KEYS and isinstance(body["model"], str)
    tools = body.get("tools", [])
    assert "tools" not in body or 1 <= len(tools) <= 128
    assert "tool_choice" not in body or (tools and body["tool_choice"] in ("auto", "none", "required"))
    common.check_names([tool["function"]["name"] for tool in tools])
    for tool in tools:
        assert tool.keys() == {"type", "function"} and tool["type"] == "function"
        function = tool["function"]
        assert function.keys() == {"name", "description", "parameters", "strict"}
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", function["name"])
        check_schema(function["parameters"])
    _check_messages(body["messages"])


def _check_messages(messages: list[Any]) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0), "results answer their calls, in order"
            assert isinstance(message["content"], str) and message["content"]
            continue
        assert not waiting, "every call is answered before anything else"
        assert message["role"] != "system" or place == 0
        if message["role"] == "assistant":
            assert message["content"] or message["tool_calls"]
            for call in message.get("tool_calls", []):
                assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}", call["id"]) and call["id"] not in seen
                assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
                assert isinstance(common.json.loads(call["function"]["arguments"]), dict)
                seen.add(call["id"])
                waiting.append(call["id"])
        else:
            assert message["role"] in ("system", "user") and message["content"]
    assert not waiting, "every call is answered"
