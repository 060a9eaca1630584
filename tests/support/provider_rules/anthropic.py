"""What Anthropic's Messages API takes: an ``AssertionError`` where the API would answer with a 400.

The shapes are those of the ``anthropic`` package's own types; the rules beside them are the server's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from . import common

KEYS = {"max_tokens", "messages", "model", "stream", "system", "temperature", "tool_choice", "tools"}
BUILTINS = {"web_search_20250305"}
IMAGES = {"image/gif", "image/jpeg", "image/png", "image/webp"}


def check_schema(schema: Any) -> None:
    common.check_schema(schema)
    for node in common.every_schema(schema):
        assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", key) for key in node.get("properties", {}))


def check_request(body: Any, version: str = "2023-06-01") -> None:
    common.check_wire(body)
    assert body.keys() <= KEYS and isinstance(body["model"], str)
    assert version < "2026-10-21" or "temperature" not in body, "sampling parameters are no more"
    assert _type_errors(body) == []
    check_body(body)


def check_body(body: Any) -> None:
    """What holds at Bedrock as well."""
    assert isinstance(body["max_tokens"], int) and body["max_tokens"] >= 1
    assert "system" not in body or body["system"].strip()
    _check_tools(body)
    _check_messages(body["messages"], with_tools="tools" in body)


def _check_tools(body: Any) -> None:
    tools = body.get("tools", [])
    assert "tools" not in body or tools
    common.check_names([tool["name"] for tool in tools])
    for tool in tools:
        if tool.get("type") in BUILTINS:
            continue
        assert tool.keys() <= {"name", "description", "input_schema", "strict"}
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"])
        check_schema(tool["input_schema"])
    choice = body.get("tool_choice")
    if choice is None:
        return
    assert tools, "a choice needs tools"
    assert choice["type"] != "none" or "disable_parallel_tool_use" not in choice
    assert choice["type"] != "tool" or choice["name"] in {tool["name"] for tool in tools}
    assert choice["type"] in ("auto", "none") or not _thinks(body), "a model that thinks is not forced"


def _thinks(body: Any) -> bool:
    return any(block["type"] in ("thinking", "redacted_thinking") for block in _blocks(body["messages"]))


def _blocks(messages: list[Any]) -> list[Any]:
    return [block for message in messages for block in message["content"]]


def _check_messages(messages: list[Any], *, with_tools: bool) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        last = place == len(messages) - 1
        assert message["role"] == ("assistant" if place % 2 else "user"), "they alternate, the user first"
        content = message["content"]
        assert content, "no message is empty"
        kinds = [block["type"] for block in content]
        assert with_tools or not {"tool_use", "tool_result"} & set(kinds), "tool blocks need tools"
        results = [block for block in content if block["type"] == "tool_result"]
        assert [result["tool_use_id"] for result in results] == waiting, "each call has its result"
        assert kinds[: len(results)] == ["tool_result"] * len(results), "results come first"
        for result in results:
            _check_result(result)
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        assert not seen & set(waiting) and len(set(waiting)) == len(waiting)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", call_id) for call_id in waiting)
        seen |= set(waiting)
        if message["role"] == "assistant":
            _check_assistant(content, kinds, paused=last)
        for block in content:
            _check_block(block)
    assert not waiting, "every call is answered"


def _check_assistant(content: list[Any], kinds: list[str], *, paused: bool) -> None:
    assert not {"document", "image"} & set(kinds)
    assert paused or kinds[-1] not in ("thinking", "redacted_thinking"), "no message ends with a thought"
    served = {block["tool_use_id"] for block in content if block["type"].endswith("_tool_result")}
    own = {block["id"] for block in content if block["type"] == "server_tool_use"}
    goes_on = paused or "tool_use" in kinds
    assert own == served or (goes_on and served <= own), "a server's call has its result"


def _check_result(result: Any) -> None:
    assert result["content"], "a result says something"
    kinds = {part["type"] for part in result["content"]}
    assert kinds <= {"document", "image", "text"}
    assert not result.get("is_error") or kinds == {"text"}, "all content of an error is text"
    for part in result["content"]:
        _check_block(part)


def _check_block(block: Any) -> None:
    if block["type"] == "text":
        assert block["text"].strip(), "blank text is refused"
    elif block["type"] == "image":
        assert block["source"]["media_type"] in IMAGES
    elif block["type"] == "document":
        assert block["source"]["media_type"] == "application/pdf"
    elif block["type"] == "thinking":
        assert block["signature"]
    elif block["type"] == "tool_use":
        assert isinstance(block["input"], dict), "input should be a valid dictionary"
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,200}", block["name"])


@cache
def _adapter(streamed: bool) -> Any:
    from anthropic.types import message_create_params as params
    from pydantic import TypeAdapter

    kind = params.MessageCreateParamsStreaming if streamed else params.MessageCreateParamsNonStreaming
    return TypeAdapter(kind)


def _type_errors(body: Any) -> list[Any]:
    """What the package's own types find wrong. Iterables are validated lazily, so they are walked."""
    from pydantic import ValidationError

    try:
        _walk(_adapter(bool(body.get("stream"))).validate_python(body))
    except ValidationError as error:
        return list(error.errors(include_url=False, include_input=False))
    return []


def _walk(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _walk(inner)
    elif not isinstance(value, str | bytes | int | float | None):
        for inner in value:
            _walk(inner)
