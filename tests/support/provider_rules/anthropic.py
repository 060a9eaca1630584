"""What Anthropic's Messages API takes: an ``AssertionError`` where the API would answer with a 400.

The shapes are those of the ``anthropic`` package's own types; the rules beside them are the server's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from . import common

KEYS = {
    "cache_control",
    "max_tokens",
    "messages",
    "model",
    "output_config",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
}
BUILTINS = {
    "code_execution_20250825",
    "tool_search_tool_bm25_20251119",
    "web_fetch_20250910",
    "web_search_20250305",
}
IMAGES = {"image/gif", "image/jpeg", "image/png", "image/webp"}


def check_schema(schema: Any) -> None:
    common.check_schema(schema)
    for node in common.every_schema(schema):
        assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", key) for key in node.get("properties", {}))


def check_request(body: Any, version: str = "2023-06-01") -> None:
    common.check_wire(body)
    assert body.keys() <= KEYS and isinstance(body["model"], str)
    assert version < "2026-10-21" or "temperature" not in body, "sampling parameters are no more"
    assert _type_errors(_without_betas(body)) == []
    served = {tool["name"] for tool in body.get("tools", []) if tool.get("type") in BUILTINS}
    assert not (served & {"web_fetch", "code_execution"} and re.search(r"claude-[23]", body["model"]))
    check_body(body, body["model"])


def check_body(body: Any, model: str) -> None:
    """What holds at Bedrock as well."""
    assert isinstance(body["max_tokens"], int) and body["max_tokens"] >= 1
    _check_system(body.get("system", "x"))
    _check_tools(body)
    _check_messages(body["messages"], with_tools="tools" in body)
    _check_marks(body)
    _check_thinking(body, model)
    schema = body.get("output_config", {}).get("format")
    assert schema is None or all(
        node.get("additionalProperties") is False
        for node in common.every_schema(schema["schema"])
        if common.says(node, "object")
    ), "every object of the answer's schema is closed"


def _check_system(system: Any) -> None:
    texts = [system] if isinstance(system, str) else [block["text"] for block in system]
    assert texts and all(text.strip() for text in texts)


def _check_marks(body: Any) -> None:
    """At most four marks for the cache, the one at the top among them, and none on thoughts."""
    system = body.get("system", [])
    places = [
        *body.get("tools", []),
        *(system if isinstance(system, list) else []),
        *_blocks(body["messages"]),
    ]
    marked = [place for place in [body, *places] if "cache_control" in place]
    assert len(marked) <= 4 and all(place["cache_control"]["type"] == "ephemeral" for place in marked)
    assert not any(place.get("type") in ("thinking", "redacted_thinking") for place in marked)
    assert not any(place.get("defer_loading") for place in marked)


ALWAYS = re.compile(r"fable|mythos|(opus|haiku)-5-5")
NEVER_OFF = re.compile(rf"{ALWAYS.pattern}|sonnet-5-5")
ADAPTIVE = re.compile(rf"{NEVER_OFF.pattern}|(opus|sonnet)-(4-[6-9]|5)")
SAMPLING_REFUSED = re.compile(rf"{NEVER_OFF.pattern}|opus-4-[78]|(opus|sonnet)-5")
WITH_EFFORT = ADAPTIVE


def _check_thinking(body: Any, model: str) -> None:
    """Each family takes its own kind of thinking, and refuses the others with 400."""
    config, kind = body.get("thinking", {}), body.get("thinking", {}).get("type")
    assert kind != "disabled" or not NEVER_OFF.search(model), "thinking.type.disabled is not supported"
    assert kind != "between_tools" or "sonnet-5-5" in model
    assert kind != "adaptive" or ADAPTIVE.search(model), "adaptive thinking is not supported on this model"
    if kind == "enabled":
        assert re.search(r"3-7|-4-[015]|-4@|-4$|-4-20", model), "thinking.type.enabled is not supported"
        assert 1024 <= config["budget_tokens"] < body["max_tokens"]
        assert body.get("temperature", 1) == 1 and body.get("tool_choice", {}).get("type") not in (
            "any",
            "tool",
        )
        assert _goes_on_with_thought(body["messages"]), "Expected `thinking`, but found `tool_use`"
    refused = SAMPLING_REFUSED.search(model)
    assert "temperature" not in body or not refused, "temperature is not supported"
    effort = body.get("output_config", {}).get("effort")
    assert effort is None or WITH_EFFORT.search(model), "this model does not support the effort parameter"
    forced = body.get("tool_choice", {}).get("type") in ("any", "tool")
    assert not (forced and NEVER_OFF.search(model)), 'tool_choice: type "tool" and "any" are not supported'


def _goes_on_with_thought(messages: list[Any]) -> bool:
    """Whether the turn that the request goes on with begins with a thought: its last part does."""
    if messages[-1]["content"][0]["type"] != "tool_result":
        return True
    return messages[-2]["content"][0]["type"] in ("thinking", "redacted_thinking")


def _without_betas(body: Any) -> Any:
    """The body without what only the types of Anthropic's betas know."""
    thinking = {key: each for key, each in body.get("thinking", {}).items() if key != "block_binding"}
    return {**body, "thinking": thinking} if thinking else body


def check_beta(body: Any, header: str) -> str:
    """What is wrong with the features that ``header`` states (``anthropic-beta``)."""
    bound = "block_binding" in body.get("thinking", {})
    stated = "thinking-binding-controls-2026-08-01" in header.split(",")
    return "thinking.block_binding: extra inputs are not permitted" if bound and not stated else ""


def _check_tools(body: Any) -> None:
    tools = body.get("tools", [])
    assert "tools" not in body or tools
    common.check_names([tool["name"] for tool in tools])
    for tool in tools:
        if tool.get("type") in BUILTINS:
            continue
        known = {"cache_control", "defer_loading", "description", "input_schema", "name", "strict"}
        assert tool.keys() <= known
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"])
        check_schema(tool["input_schema"])
    choice = body.get("tool_choice")
    if choice is None:
        return
    assert tools, "a choice needs tools"
    assert choice["type"] != "none" or "disable_parallel_tool_use" not in choice
    assert choice["type"] != "tool" or choice["name"] in {tool["name"] for tool in tools}
    thinks = any(block["type"] in ("thinking", "redacted_thinking") for block in _blocks(body["messages"]))
    assert choice["type"] in ("auto", "none") or not thinks, "a model that thinks is not forced"


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
