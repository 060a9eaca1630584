"""Converse answers, as the API writes them."""

from __future__ import annotations

import json
from typing import Any

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
