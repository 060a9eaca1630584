"""Messages answers, as Anthropic writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from tests.support.fake_providers import checks
from tests.support.fake_providers.place import KEY, Place
from tests.support.readers import Said, texts

STOPS = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
BROKEN: list[Any] = [{"type": "message"}, {"content": None}, {"content": 7}]
USAGE = {
    "input_tokens": 8,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 3,
    "output_tokens": 7,
    "output_tokens_details": {"thinking_tokens": 2},
}


def message(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        **more,
        "usage": deepcopy(USAGE),
    }


def answer(text: str = "", calls: Any = (), stop: str = "stop") -> dict[str, Any]:
    """``calls`` are (id, name, arguments); an id of ``None`` is left out."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for call_id, name, arguments in calls:
        known = {} if call_id is None else {"id": call_id}
        blocks.append({"type": "tool_use", **known, "name": name, "input": arguments})
    return message(*blocks, stop="tool_use" if calls and stop == "stop" else STOPS[stop])


def error(message: str, kind: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


def events(body: dict[str, Any], *, interleaved: bool = False) -> Iterator[dict[str, Any]]:
    """The events of the stream that ``body`` is the whole of."""
    usage = dict(body["usage"])
    begun = {**usage, "output_tokens": 1}
    del begun["output_tokens_details"]
    first = {**body, "content": [], "stop_reason": None, "usage": begun}
    first.pop("stop_details", None)
    yield {"type": "message_start", "message": first}
    waiting = [list(_block(index, block)) for index, block in enumerate(body["content"])]
    if interleaved:
        while any(waiting):
            yield from [block.pop(0) for block in waiting if block]
    for block in waiting:
        yield from block
    ended = {key: body.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    cumulative = {key: usage[key] for key in ("output_tokens", "output_tokens_details")}
    yield {
        "type": "message_delta",
        "delta": ended,
        "usage": {**cumulative, "input_tokens": None, "server_tool_use": None},
    }
    yield {"type": "message_stop"}


def _block(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start, deltas = _pieces(block)
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if block["type"] == "text":
        cited = [{"type": "citations_delta", "citation": each} for each in block.get("citations") or []]
        start = {**block, "text": ""} | ({"citations": []} if cited else {})
        return start, [{"type": "text_delta", "text": piece} for piece in cut(block["text"])] + cited
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in cut(block["thinking"])]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*deltas, signature]
    if block.get("input"):
        given = block["input"]
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        pieces = ["", *cut(written)]
        return {**block, "input": {}}, [
            {"type": "input_json_delta", "partial_json": piece} for piece in pieces
        ]
    return block, []


def cut(text: str, length: int = 5) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]


def sse(event: dict[str, Any]) -> bytes:
    data = json.dumps(event, ensure_ascii=False)
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    """The stream of ``answer(text, calls, stop)``."""
    return [sse(event) for event in events(answer(text, calls, stop))]


THOUGHT = {"type": "thinking", "thinking": "Rain? 🌧 Hm.", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "aGlk"}
USE = {"type": "tool_use", "id": "c1", "name": "s__weather", "input": {"city": "Tromsø", "days": 2**60}}
BARE = {"type": "tool_use", "id": "c2", "name": "s__time", "input": {}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Tromsø"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://a.test", "title": "A", "encrypted_content": "x"}
    ],
}
CITED = {
    "type": "text",
    "text": "It snows.",
    "citations": [
        {
            "type": "web_search_result_location",
            "url": "https://a.test",
            "title": "A",
            "cited_text": "snow",
            "encrypted_index": "eA",
        }
    ],
}
BODIES: dict[str, dict[str, Any]] = {
    "thoughts, then text and calls": message(
        THOUGHT, REDACTED, {"type": "text", "text": "I look."}, USE, BARE, stop="tool_use"
    ),
    "calls before text": message(BARE, USE, {"type": "text", "text": "There."}, stop="tool_use"),
    "a search of the provider's own": message(THOUGHT, SEARCH, FOUND, CITED),
    "a pause": message(THOUGHT, SEARCH, stop="pause_turn"),
    "a refusal": message(
        stop="refusal",
        stop_details={"type": "refusal", "category": "bio", "explanation": "I will not."},
    ),
    "a call that is cut": message(
        {"type": "text", "text": "I look."}, {**USE, "input": '{"city": "Tr'}, stop="max_tokens"
    ),
    "arguments that are no JSON": message({**USE, "input": '{"city": Tromsø}'}, stop="tool_use"),
    "nothing": message(),
    "a full context": message(
        {"type": "text", "text": "So"}, stop="model_context_window_exceeded", container=None
    ),
}


def streams(frame: Callable[[dict[str, Any]], bytes]) -> dict[str, tuple[list[bytes], Any]]:
    """``BODIES`` as streams whose events are framed by ``frame``."""
    made = {name: ([frame(each) for each in events(body)], body) for name, body in BODIES.items()}
    mixed = BODIES["thoughts, then text and calls"]
    made["interleaved blocks"] = ([frame(each) for each in events(mixed, interleaved=True)], mixed)
    return made


NOISE_EVENTS: dict[str, dict[str, Any]] = {
    "a ping": {"type": "ping"},
    "an unknown event": {"type": "weather_changed", "index": 0},
    "usage on the way": {"type": "message_delta", "delta": {}, "usage": None},
}
FAILED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded, try later"}}

STREAMS = streams(sse)
NOISE = {name: sse(event) for name, event in NOISE_EVENTS.items()} | {"a comment": b": keep-alive\n\n"}
FAILURE = sse(FAILED)


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    body = told(parts, stop)
    return body, [sse(event) for event in events(body)]


def told(parts: Any, stop: str) -> dict[str, Any]:
    """The whole answer of ``spoken``."""
    blocks: list[dict[str, Any]] = []
    for kind, given in parts:
        if kind == "call":
            call_id, name, arguments = given
            known = {} if call_id is None else {"id": call_id}
            blocks.append({"type": "tool_use", **known, "name": name, "input": arguments})
        elif kind == "text":
            blocks.append({"type": "text", "text": given})
        else:
            blocks.append({"type": "thinking", "thinking": given, "signature": "c2ln"})
    calls = any(kind == "call" for kind, _ in parts)
    return message(*blocks, stop="tool_use" if calls and stop == "stop" else STOPS[stop])


def conversation(body: Any) -> Iterator[Said]:
    for message in body["messages"]:
        if message["role"] == "assistant":
            yield "assistant", {"content": message["content"], "stop_reason": "end_turn"}
            continue
        results = [block for block in message["content"] if block["type"] == "tool_result"]
        for result in results:
            yield "result", result.get("is_error", False), texts(result["content"])
        if text := texts([block for block in message["content"] if block["type"] == "text"]):
            yield "user", text


PLACE = Place(
    "anthropic/claude-x",
    lambda base: {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": base},
    checks.anthropic(KEY),
    checks.anthropic(KEY),
)
