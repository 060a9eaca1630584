"""``generateContent`` answers, as the API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support import official_types
from tests.support.fake_providers import checks
from tests.support.fake_providers.place import KEY, Place, also
from tests.support.readers import Said, texts

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


def signed(*parts: dict[str, Any]) -> dict[str, Any]:
    """An answer of these parts."""
    body = answer()
    body["candidates"][0]["content"]["parts"] = list(parts)
    return body


def event(body: Any) -> bytes:
    """One event."""
    return f"data: {json.dumps(body, ensure_ascii=False)}\r\n\r\n".encode()


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    """The stream of ``answer`` for the same arguments."""
    return stream(answer(text, calls, stop))


def stream(body: dict[str, Any]) -> list[bytes]:
    """The stream of ``body``: its parts one by one, plain texts in pieces, the reason to end last."""
    return [event(chunk) for chunk in _chunks(body)]


def _chunks(body: dict[str, Any]) -> list[dict[str, Any]]:
    candidate = body["candidates"][0]
    pieces = [piece for part in candidate["content"]["parts"] for piece in _pieces(part)] or [{"text": ""}]
    usage = {"promptTokenCount": 11, "totalTokenCount": 11}
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [piece]}}], "usageMetadata": usage}
        for piece in pieces
    ]
    chunks[-1]["candidates"][0]["finishReason"] = candidate["finishReason"]
    chunks[-1]["usageMetadata"] = body["usageMetadata"]
    return chunks


def _pieces(part: dict[str, Any]) -> list[dict[str, Any]]:
    """A signed part comes whole: what is signed must not be merged."""
    text = part.get("text", "")
    if not text or "thoughtSignature" in part:
        return [part]
    return [{**part, "text": text[start : start + 5]} for start in range(0, len(text), 5)]


def _array(body: dict[str, Any]) -> list[bytes]:
    """Without ``alt=sse``: one JSON array."""
    written = [json.dumps(chunk, indent=1, ensure_ascii=False).encode() for chunk in _chunks(body)]
    return [b"[" + written[0], *(b",\r\n" + chunk for chunk in written[1:]), b"]"]


_CALLS = [("c1", "s__weather", {"city": "Oslo"}), ("c2", "s__time", {})]
_THOUGHT = signed(
    {"text": "Where is it?", "thought": True},
    {"text": "Let me see. 🌧", "thoughtSignature": "YQ=="},
    {"text": "So: "},
    *answer("", _CALLS)["candidates"][0]["content"]["parts"],
)
_LATE = signed({"text": "It is seven."}, {"text": "", "thoughtSignature": "Yg=="})
_SEARCHED = signed(
    {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["oslo"]}}},
    {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"x": "{[\\"}}},
    {"text": 'Seven }degrees".'},
    *answer("", _CALLS[:1])["candidates"][0]["content"]["parts"],
)
_BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}

STREAMS: dict[str, tuple[list[bytes], dict[str, Any]]] = {
    "thoughts and signatures": (stream(_THOUGHT), _THOUGHT),
    "a signature on an empty text": (stream(_LATE), _LATE),
    "a search of the provider's own": (stream(_SEARCHED), _SEARCHED),
    "a blocked prompt": ([event(_BLOCKED)], _BLOCKED),
}
ARRAYS: dict[str, tuple[list[bytes], dict[str, Any]]] = {
    "a JSON array": (_array(_THOUGHT), _THOUGHT),
    "a JSON array with awkward strings": (_array(_SEARCHED), _SEARCHED),
}
NOISE: dict[str, bytes] = {
    "comment": b": keep-alive\n\n",
    "nothing new": event({"modelVersion": "gemini-3", "responseId": "r1"}),
    "unknown field": event({"weather": [1, {"a": None}]}),
    "no parts": event({"candidates": [{"index": 0, "content": {"role": "model"}}]}),
}
FAILURE = event({"error": {"code": 503, "message": "Overloaded, try later", "status": "UNAVAILABLE"}})


def error(message: str, kind: str) -> bytes:
    return json.dumps({"error": {"code": 400, "message": message, "status": kind}}).encode()


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    calls = iter(
        answer("", [given for kind, given in parts if kind == "call"])["candidates"][0]["content"]["parts"]
    )
    made: list[dict[str, Any]] = []
    for kind, given in parts:
        plain = {"text": given} if kind == "text" else {"text": given, "thought": True}
        made.append(next(calls) if kind == "call" else plain)
    body = signed(*made)
    body["candidates"][0]["finishReason"] = STOPS[stop]
    return body, stream(body)


def conversation(body: Any) -> Iterator[Said]:
    for content in body["contents"]:
        if content["role"] == "model":
            yield "assistant", {"candidates": [{"content": content, "finishReason": "STOP"}]}
            continue
        for part in content["parts"]:
            if "functionResponse" in part:
                response = part["functionResponse"]["response"]
                text = response.get("error", response.get("output"))
                yield "result", "error" in response, text if isinstance(text, str) else json.dumps(text)
        if text := texts(content["parts"]):
            yield "user", text


def _check(method: str) -> checks.Check:
    return also(checks.gemini(KEY, "gemini-3-pro", method=method), official_types.check_gemini)


PLACE = Place(
    "gemini/gemini-3-pro",
    lambda base: {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": base},
    _check("generateContent"),
    _check("streamGenerateContent?alt=sse"),
)
