"""Answers of ``/api/chat``, as Ollama writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support import official_types
from tests.support.fake_providers import checks
from tests.support.fake_providers.place import Place, also
from tests.support.readers import Said, marked

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


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    """The stream of ``answer(text, calls, stop)``: text in pieces, each call whole, then the counts."""
    body = answer(text, calls, stop)
    message = body.pop("message")
    said = [text[start : start + 5] for start in range(0, len(text), 5)]
    return [
        *(line({"content": piece}) for piece in said),
        *(line({"content": "", "tool_calls": [call]}) for call in message.get("tool_calls", [])),
        line({"content": ""}, **body),
    ]


def line(message: dict[str, Any], **more: Any) -> bytes:
    event = {"model": "m", "message": {"role": "assistant", **message}, "done": False, **more}
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


NOISE = {
    "a blank line": b"\n",
    "a line that adds nothing": line({"content": ""}),
    "a line of another kind": b'{"status": "loading model"}\n',
}
FAILURE = b'{"error": "Overloaded, try later"}\n'

_TWO = [("a", "s__weather", {"city": "Tromsø ☃"}), ("b", "s__time", {})]
_CALLS = [_call(place, *call) for place, call in enumerate(_TWO)]
_END = {key: value for key, value in answer().items() if key != "message"}


def _thinking() -> dict[str, Any]:
    body = answer("It is 7 °C.", _TWO)
    body["message"]["thinking"] = "Hm, well…"
    return body


STREAMS: dict[str, tuple[list[bytes], Any]] = {
    "thoughts, text and calls": (
        [
            line({"content": "", "thinking": "Hm, "}),
            line({"content": "", "thinking": "well…"}),
            line({"content": "It is "}),
            line({"content": "7 °C.", "tool_calls": _CALLS[:1]}),
            line({"content": "", "tool_calls": _CALLS[1:]}),
            line({"content": ""}, **_END),
        ],
        _thinking(),
    ),
    "all calls in one line, before text": (
        [line({"content": "", "tool_calls": _CALLS}), line({"content": "So."}), line({}, **_END)],
        answer("So.", _TWO),
    ),
    "calls in the last line": ([line({"content": "So.", "tool_calls": _CALLS}, **_END)], answer("So.", _TWO)),
    "no line feed at the end": (
        [line({"content": "Hi"}), line({"content": ""}, **_END).rstrip()],
        answer("Hi"),
    ),
    "CRLF": (
        [line({"content": "Hi"}).replace(b"\n", b"\r\n"), line({"content": ""}, **_END)],
        answer("Hi"),
    ),
    "at its limit": (
        [line({"content": "So.", "tool_calls": _CALLS}), line({}, **{**_END, "done_reason": "length"})],
        answer("So.", _TWO, "length"),
    ),
}


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    texts = [given for kind, given in parts if kind == "text"]
    body = answer("".join(texts), [given for kind, given in parts if kind == "call"], stop)
    wire = iter(body["message"].get("tool_calls", []))
    lines: list[dict[str, Any]] = []
    for kind, given in parts:
        if kind == "call":
            lines.append({"content": "", "tool_calls": [next(wire)]})
        else:
            cut = [given[start : start + 5] for start in range(0, len(given), 5)]
            lines += [
                {"content": piece} if kind == "text" else {"content": "", "thinking": piece} for piece in cut
            ]
    if thoughts := "".join(given for kind, given in parts if kind == "thought"):
        body["message"]["thinking"] = thoughts
    ended = {key: value for key, value in body.items() if key != "message"}
    return body, [*map(line, lines), line({"content": ""}, **ended)]


def conversation(body: Any) -> Iterator[Said]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield marked(message["content"])
        elif message["role"] == "assistant":
            yield "assistant", {"message": message, "done": True, "done_reason": "stop"}
        elif message["role"] == "user":
            yield "user", message["content"]


def _official(body: Any) -> None:
    if "messages" in body:  # of /api/show the client has nothing more to say
        official_types.check_ollama(body)


_CHECK = also(checks.ollama(), _official)
PLACE = Place("ollama/llama-x", lambda base: {"OLLAMA_HOST": base}, _CHECK, _CHECK, "application/x-ndjson")
