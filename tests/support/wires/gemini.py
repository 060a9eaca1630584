"""``generateContent`` answers, as the API writes them."""

from __future__ import annotations

import json
from typing import Any

STOPS = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
BROKEN: list[Any] = [{"candidates": []}, {"candidates": [{"index": 0}]}, {"usageMetadata": {}}]


def answer(text: str = "", calls: Any = (), stop: str = "stop") -> dict[str, Any]:
    """``calls`` are (id, name, arguments); an id of ``None`` is left out."""
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    for place, (call_id, name, arguments) in enumerate(calls):
        call = (
            {"name": name, "args": arguments}
            if call_id is None
            else {"id": call_id, "name": name, "args": arguments}
        )
        parts.append({"functionCall": call, **({"thoughtSignature": "c2ln"} if place == 0 else {})})
    usage = {
        "promptTokenCount": 11,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 3,
        "totalTokenCount": 18,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": STOPS[stop]}
    return {"candidates": [candidate], "usageMetadata": usage}


def error(message: str, kind: str) -> bytes:
    return json.dumps({"error": {"code": 400, "message": message, "status": kind}}).encode()
