"""Converse answers, as the API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.event_frames import frame
from tests.support.fake_providers import checks
from tests.support.fake_providers.place import (
    CLAUDE_ON_BEDROCK,
    EVENT_STREAM,
    KEY,
    Place,
    bedrock_variables,
)
from tests.support.readers import Said, texts, without_mark

MODEL = "us.anthropic.claude-sonnet-4-6"
STOPS = {"stop": "end_turn", "length": "max_tokens", "refusal": "guardrail_intervened"}
BROKEN: list[Any] = [{"output": {}}, {"output": {"message": None}}, {"stopReason": "end_turn"}]


def answer(text: str = "", calls: Any = (), stop: str = "stop") -> dict[str, Any]:
    """``calls`` are (id, name, arguments); an id of ``None`` is left out."""
    blocks: list[dict[str, Any]] = [{"text": text}] if text else []
    for call_id, name, arguments in calls:
        use = {"name": name, "input": arguments}
        blocks.append({"toolUse": use if call_id is None else {"toolUseId": call_id, **use}})
    reason = "tool_use" if calls and stop == "stop" else STOPS[stop]
    usage = {"inputTokens": 8, "outputTokens": 7, "totalTokens": 18, "cacheReadInputTokens": 3}
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": reason,
        "usage": usage,
    }


def error(message: str, kind: str) -> bytes:
    return json.dumps({"__type": kind, "message": message}).encode()


def whole(*content: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        **answer(),
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": stop,
    }


def events(body: dict[str, Any], *, interleaved: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events, by name, of the ConverseStream that ``body`` is the whole of."""
    yield "messageStart", {"role": "assistant", "p": "abc"}
    blocks = body["output"]["message"]["content"]
    waiting = [list(_block(index, block)) for index, block in enumerate(blocks)]
    if interleaved:
        while any(waiting):
            yield from [block.pop(0) for block in waiting if block]
    for block in waiting:
        yield from block
    yield "messageStop", {"stopReason": body["stopReason"], "p": "abcd"}
    yield "metadata", {"usage": body["usage"], "metrics": {"latencyMs": 5}, "p": "a"}


def _block(index: int, block: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    start, deltas = _pieces(block)
    if start:
        yield "contentBlockStart", {"contentBlockIndex": index, "start": start}
    for delta in deltas:
        yield "contentBlockDelta", {"contentBlockIndex": index, "delta": delta, "p": "abcdefgh"}
    yield "contentBlockStop", {"contentBlockIndex": index}


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if "toolUse" in block:
        use = dict(block["toolUse"])
        given = use.pop("input")
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""
        return {"toolUse": use}, [{"toolUse": {"input": piece}} for piece in _cut(written)]
    if "toolResult" in block:
        result = dict(block["toolResult"])
        return {"toolResult": result}, [{"toolResult": result.pop("content")}]
    if "citationsContent" in block:
        (said,), cited = block["citationsContent"]["content"], block["citationsContent"]["citations"]
        return {}, [{"text": piece} for piece in _cut(said["text"])] + [{"citation": each} for each in cited]
    if "text" in block:
        return {}, [{"text": piece} for piece in _cut(block["text"])]
    reasoning = block["reasoningContent"]
    if "redactedContent" in reasoning:
        return {}, [{"reasoningContent": reasoning}]
    pieces = [{"text": piece} for piece in _cut(reasoning["reasoningText"]["text"])]
    pieces.append({"signature": reasoning["reasoningText"]["signature"]})
    return {}, [{"reasoningContent": piece} for piece in pieces]


def _cut(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def written(name: str, event: dict[str, Any]) -> bytes:
    return frame(json.dumps(event, ensure_ascii=False).encode(), event=name)


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    """The stream of ``answer(text, calls, stop)``."""
    return [written(*event) for event in events(answer(text, calls, stop))]


THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Rain? 🌧 Hm.", "signature": "c2ln"}}}
REDACTED = {"reasoningContent": {"redactedContent": "aGlkZGVu"}}
USE = {"toolUse": {"toolUseId": "c1", "name": "s__weather", "input": {"city": "Tromsø", "days": 2**60}}}
BARE = {"toolUse": {"toolUseId": "c2", "name": "s__time", "input": {}}}
SEARCH = {
    "toolUse": {"toolUseId": "x", "name": "grounding", "input": {"q": "Oslo"}, "type": "server_tool_use"}
}
FOUND = {
    "toolResult": {"toolUseId": "x", "status": "success", "content": [{"text": "a"}, {"json": {"b": 1}}]}
}
CITED = {"citationsContent": {"content": [{"text": "It snows."}], "citations": [{"title": "A"}]}}
BODIES: dict[str, dict[str, Any]] = {
    "thoughts, then text and calls": whole(
        THOUGHT, REDACTED, {"text": "I look."}, USE, BARE, stop="tool_use"
    ),
    "calls before text": whole(BARE, USE, {"text": "There."}, stop="tool_use"),
    "a search of the provider's own": whole(THOUGHT, SEARCH, FOUND, CITED),
    "a guardrail": whole({"text": "No."}, stop="guardrail_intervened"),
    "a call that is cut": whole(
        {"text": "I look."},
        {"toolUse": {"toolUseId": "c1", "name": "s__weather", "input": '{"city": "Tr'}},
        stop="max_tokens",
    ),
    "nothing": whole(),
}
STREAMS: dict[str, tuple[list[bytes], Any]] = {
    **{name: ([written(*event) for event in events(body)], body) for name, body in BODIES.items()},
    "interleaved blocks": (
        [written(*event) for event in events(BODIES["calls before text"], interleaved=True)],
        BODIES["calls before text"],
    ),
}
NOISE = {
    "an unknown event": written("weatherChanged", {"contentBlockIndex": 0}),
    "an unknown frame": frame(b"", event="initial-response"),
}
FAILURE = frame(b'{"message": "Overloaded, try later"}', exception="serviceUnavailableException")


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    blocks: list[dict[str, Any]] = []
    for kind, given in parts:
        if kind == "call":
            call_id, name, arguments = given
            known = {} if call_id is None else {"toolUseId": call_id}
            blocks.append({"toolUse": {**known, "name": name, "input": arguments}})
        elif kind == "text":
            blocks.append({"text": given})
        else:
            blocks.append({"reasoningContent": {"reasoningText": {"text": given, "signature": "c2ln"}}})
    calls = any(kind == "call" for kind, _ in parts)
    body = whole(*blocks, stop="tool_use" if calls and stop == "stop" else STOPS[stop])
    return body, [written(*event) for event in events(body)]


def conversation(body: Any) -> Iterator[Said]:
    for message in body["messages"]:
        if message["role"] == "assistant":
            yield "assistant", {"output": {"message": message}, "stopReason": "end_turn"}
            continue
        for block in message["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                text = texts(result["content"])
                failed = result.get("status", "error" if text.startswith("[tool error]") else "") == "error"
                yield "result", failed, without_mark(text)
        if text := texts(message["content"]):
            yield "user", text


PLACE = Place(
    f"bedrock/{CLAUDE_ON_BEDROCK}",
    bedrock_variables,
    checks.bedrock_token(KEY, CLAUDE_ON_BEDROCK),
    checks.bedrock_token(KEY, CLAUDE_ON_BEDROCK, "converse-stream"),
    EVENT_STREAM,
)
