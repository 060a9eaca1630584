"""Answers of ``/api/chat``, as Ollama writes them."""

from __future__ import annotations

import json
from typing import Any

STOPS = {"stop": "stop", "length": "length"}
BROKEN: list[Any] = [{"done": True}, {"message": None}, {"models": []}]


def answer(text: str = "", calls: Any = (), stop: str = "stop") -> dict[str, Any]:
    """``calls`` are (id, name, arguments); an id of ``None`` is left out."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [_call(place, *call) for place, call in enumerate(calls)]
    counts = {"prompt_eval_count": 11, "eval_count": 7, "total_duration": 5}
    return {"model": "m", "message": message, "done": True, "done_reason": STOPS[stop], **counts}


def _call(place: int, call_id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    call = {"function": {"index": place, "name": name, "arguments": arguments}}
    return call if call_id is None else {"id": call_id, **call}


def error(message: str, kind: str) -> bytes:
    return json.dumps({"error": message}).encode()
