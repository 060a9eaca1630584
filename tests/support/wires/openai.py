"""Chat Completions answers, as the API writes them."""

from __future__ import annotations

import json
from typing import Any

STOPS = {"stop": "stop", "length": "length", "refusal": "content_filter"}
BROKEN: list[Any] = [{"choices": []}, {"choices": [{"message": None}]}, {"choices": None}]


def answer(text: str = "", calls: Any = (), stop: str = "stop") -> dict[str, Any]:
    """``calls`` are (id, name, arguments); an id of ``None`` is left out."""
    wire = [_call(*call) for call in calls]
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if wire:
        message["tool_calls"] = wire
    reason = "tool_calls" if wire and stop == "stop" else STOPS[stop]
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "total_tokens": 18,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    return {
        "id": "c1",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }


def _call(call_id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"type": "function", "function": {"name": name, "arguments": written}}
    return call if call_id is None else {"id": call_id, **call}


def error(message: str, kind: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}}).encode()
