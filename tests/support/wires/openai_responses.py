"""Responses answers, as the API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from typing import Any

from tests.support import official_types
from tests.support.fake_providers import checks
from tests.support.fake_providers.place import KEY, Place, also, openai_variables
from tests.support.readers import Said, marked, texts

STOPS = {"stop": "completed", "length": "incomplete", "refusal": "completed"}
BROKEN: list[Any] = [
    {"output": None},
    {"id": "resp_1", "status": "queued", "output": []},
    {"object": "response"},
]
REASONING: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Where is it? In Oslo."}],
    "encrypted_content": "gAAAAABo+secret==",
}
SEARCH: dict[str, Any] = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "weather oslo", "queries": ["weather oslo"]},
}


def answer(text: str = "", calls: Any = (), stop: str = "stop") -> dict[str, Any]:
    """``calls`` are (id, name, arguments); an id of ``None`` is left out."""
    output = [message(text, refuses=stop == "refusal")] if text else []
    return whole([*output, *(_call(place, *call) for place, call in enumerate(calls))], stop=stop)


def whole(output: list[dict[str, Any]], stop: str = "stop") -> dict[str, Any]:
    """A response with these items."""
    usage = {
        "input_tokens": 11,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 18,
    }
    cut = {"reason": "max_output_tokens"} if stop == "length" else None
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "m",
        "status": STOPS[stop],
        "error": None,
        "incomplete_details": cut,
        "output": output,
        "usage": usage,
    }


def message(text: str, *, refuses: bool = False, phase: str = "final_answer") -> dict[str, Any]:
    """A message item of one part."""
    said = {"type": "output_text", "text": text, "annotations": []}
    part = {"type": "refusal", "refusal": text} if refuses else said
    return {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "phase": phase,
        "content": [part],
    }


def _call(place: int, call_id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"type": "function_call", "id": f"fc_{place}", "name": name, "arguments": written}
    return {**call, "status": "completed", **({} if call_id is None else {"call_id": call_id})}


def error(message: str, kind: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}}).encode()


def event(kind: str, **data: Any) -> bytes:
    """One named event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n".encode()


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    """The stream of ``answer`` for the same arguments."""
    return stream(answer(text, calls, stop))


def stream(body: dict[str, Any]) -> list[bytes]:
    """The stream of ``body``: one item after the other, then the whole."""
    begun = {"id": body["id"], "status": "in_progress", "output": []}
    sent = [event("response.created", response=begun), event("response.in_progress", response=begun)]
    for place, item in enumerate(body["output"]):
        sent += _item(place, item)
    return [*sent, event(f"response.{body['status']}", response=body)]


def _item(place: int, item: dict[str, Any]) -> Iterator[bytes]:
    at = {"output_index": place, "item_id": item["id"]}
    yield event("response.output_item.added", output_index=place, item=_begun(item))
    if item["type"] == "function_call":
        for piece in _pieces(item["arguments"]):
            yield event("response.function_call_arguments.delta", **at, delta=piece)
        yield event("response.function_call_arguments.done", **at, arguments=item["arguments"])
    for number, part in enumerate(item.get("content") or []):
        yield from _part({**at, "content_index": number}, part)
    for number, part in enumerate(item.get("summary", [])):
        for piece in _pieces(part["text"]):
            yield event("response.reasoning_summary_text.delta", **at, summary_index=number, delta=piece)
    yield event("response.output_item.done", output_index=place, item=item)


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it is announced: empty, its encrypted content not yet what it will be."""
    empty = {
        "content": [],
        "summary": [],
        "arguments": "",
        "encrypted_content": "gAAA",
        "status": "in_progress",
    }
    return {**item, **{key: value for key, value in empty.items() if key in item}}


def _part(at: dict[str, Any], part: dict[str, Any]) -> Iterator[bytes]:
    kind, key = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
    yield event("response.content_part.added", **at, part={"type": kind, key: ""})
    for piece in _pieces(part[key]):
        yield event(f"response.{kind}.delta", **at, delta=piece)
    yield event(f"response.{kind}.done", **at, **{key: part[key]})


def _pieces(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def _interleaved(body: dict[str, Any]) -> list[bytes]:
    """The same, with the events of the items in turns."""
    first, *_, last = stream(body)
    waiting = [list(_item(place, item)) for place, item in enumerate(body["output"])]
    mixed: list[bytes] = []
    while any(waiting):
        mixed += [events.pop(0) for events in waiting if events]
    return [first, *mixed, last]


_CALLS = [("c1", "s__weather", {"city": "Oslo"}), ("c2", "s__time", {})]
_CITED = message("Seven degrees.")
_CITED["content"][0]["annotations"] = [
    {"type": "url_citation", "start_index": 0, "end_index": 5, "title": "T", "url": "https://example.com"}
]
_THOUGHT = whole([REASONING, *answer("Let me see.", _CALLS)["output"]])
_TWO = whole(
    [
        {**message("I look.", phase="commentary"), "id": "msg_0"},
        *answer("", _CALLS[:1])["output"],
        message("It is 🌧 seven."),
    ]
)
_SEARCHED = whole([REASONING, SEARCH, _CITED])


def _bare(body: dict[str, Any]) -> list[bytes]:
    """As some servers have it: whole items only, no deltas, names of events or numbers of items."""
    items = [event("response.output_item.done", item=item) for item in body["output"]]
    last = event("response.completed", response={**deepcopy(body), "output": []})
    return [b"data: " + frame.partition(b"data: ")[2] for frame in [*items, last]]


STREAMS: dict[str, tuple[list[bytes], dict[str, Any]]] = {
    "thoughts": (stream(_THOUGHT), _THOUGHT),
    "interleaved items": (_interleaved(_THOUGHT), _THOUGHT),
    "a call between two messages": (stream(_TWO), _TWO),
    "a search of the provider's own": (stream(_SEARCHED), _SEARCHED),
    "items without deltas": (_bare(_THOUGHT), _THOUGHT),
    "the end alone": (stream(_THOUGHT)[-1:], _THOUGHT),
}
NOISE: dict[str, bytes] = {
    "comment": b": keep-alive\n\n",
    "unknown event": event("response.weather.changed", output_index=0, delta="?"),
    "event for an unknown item": event("response.output_text.delta", output_index=99, delta="?"),
    "done": b"data: [DONE]\n\n",
}
FAILURE = event("error", code="server_is_overloaded", message="Overloaded, try later", param=None)


_ANSWERS = count(1)


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    """An answer of ``parts``; like the API's, its items have ids that no other answer's have."""
    answer_id = next(_ANSWERS)
    output: list[dict[str, Any]] = []
    for place, (kind, given) in enumerate(parts):
        if kind == "call":
            output.append({**_call(place, *given), "id": f"fc_{answer_id}_{place}"})
        elif kind == "text":
            output.append({**message(given, refuses=stop == "refusal"), "id": f"msg_{answer_id}_{place}"})
        else:
            summary = [{"type": "summary_text", "text": given}]
            output.append({**REASONING, "id": f"rs_{answer_id}_{place}", "summary": summary})
    body = whole(output, stop)
    return body, stream(body)


def conversation(body: Any) -> Iterator[Said]:
    said: list[Any] = []
    for item in [*body["input"], {"role": "end"}]:
        if item.get("role") == "assistant":
            text = {"type": "output_text", "text": item["content"]}
            said.append({"type": "message", "role": "assistant", "content": [text]})
        elif item.get("type") == "function_call":
            said.append(item)
        else:
            if said:
                yield "assistant", {"object": "response", "status": "completed", "output": said}
            said = []
            if item.get("type") == "function_call_output":
                yield marked(texts(item["output"]))
            elif item["role"] == "user":
                yield "user", texts(item["content"])


_CHECK = also(checks.responses(KEY), lambda body: official_types.check_openai("responses", body))
PLACE = Place("openai-responses/gpt-x", openai_variables, _CHECK, _CHECK)
