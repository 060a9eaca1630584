"""Chat Completions answers, as the API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support import official_types
from tests.support.fake_providers import checks
from tests.support.fake_providers.place import KEY, Place, also, openai_variables
from tests.support.readers import Said, marked, texts

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


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    """The stream of ``answer(text, calls, stop)``: pieces of text, of each call, its usage last."""
    body = answer(text, calls, stop)
    (choice,) = body["choices"]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    deltas += [{"content": piece} for piece in pieces(message["content"] or "")]
    for index, call in enumerate(message.get("tool_calls", [])):
        deltas += [{"tool_calls": [piece]} for piece in _call_pieces(index, call)]
    return [
        *(chunk(delta) for delta in deltas),
        chunk({}, choice["finish_reason"]),
        data({"id": "c1", "choices": [], "usage": body["usage"]}),
        DONE,
    ]


def pieces(text: str, length: int = 5) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]


def data(event: Any) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return data(
        {"id": "c1", "object": "chat.completion.chunk", "choices": [choice], "obfuscation": "x", **more}
    )


def call_piece(index: int | None, arguments: str = "", **more: Any) -> dict[str, Any]:
    """One entry of ``delta.tool_calls``; ``name`` and ``id`` in ``more``."""
    name = {"name": more.pop("name")} if "name" in more else {}
    place = {} if index is None else {"index": index}
    return {**place, **more, "function": {**name, "arguments": arguments}}


def _call_pieces(index: int, call: dict[str, Any]) -> list[dict[str, Any]]:
    known = {"id": call["id"]} if "id" in call else {}
    first = call_piece(index, name=call["function"]["name"], type="function", **known)
    return [first, *(call_piece(index, piece) for piece in pieces(call["function"]["arguments"]))]


DONE = b"data: [DONE]\n\n"
NOISE = {
    "a comment": b": OPENROUTER PROCESSING\n\n",
    "a blank line": b"\r\n",
    "an unknown event": b'event: ping\ndata: {"type": "ping"}\n\n',
    "a chunk without choices": data({"id": "c1", "choices": []}),
    "a chunk that adds nothing": chunk({}),
    "a retry and an id": b"retry: 100\nid: 7\n\n",
}
FAILURE = data({"error": {"message": "Overloaded, try later", "type": "server_error", "code": None}})

_TWO = [("a", "s__weather", {"city": "Tromsø ☃"}), ("b", "s__time", {})]
_FIRST = [
    chunk({"tool_calls": [call_piece(0, id="a", name="s__weather")]}),
    chunk({"tool_calls": [call_piece(0, '{"city": "Tro')]}),
]


def _ended(*chunks: bytes, finish: str = "tool_calls") -> list[bytes]:
    usage = answer()["usage"]
    return [*chunks, chunk({}, finish), data({"choices": [], "usage": usage}), DONE]


_SIGNED = {"google": {"thought_signature": "c2ln"}}


def _thought(body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """``body`` with these fields of its message."""
    body["choices"][0]["message"] |= fields
    return body


def _signed(body: dict[str, Any]) -> dict[str, Any]:
    body["choices"][0]["message"]["tool_calls"][0]["extra_content"] = _SIGNED
    return body


def _thinking(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": words}]}


def _detail(index: int, **fields: Any) -> dict[str, Any]:
    """One entry of ``reasoning_details``, or a piece of it."""
    kinds = {"data": "encrypted", "summary": "summary"}
    kind = next((kind for field, kind in kinds.items() if field in fields), "text")
    return {"type": f"reasoning.{kind}", "index": index, "format": "x-v1", **fields}


def _refused() -> dict[str, Any]:
    body = answer()
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I will not."}
    return body


_TAGGED = ("\n<th", "ink>", "\nWhere? <b", "> </", "think", ">\n", "\n In Osl", "o </think>.")
STREAMS: dict[str, tuple[list[bytes], Any]] = {
    "thoughts in tags at the start of the text": (
        _ended(*(chunk({"content": piece}) for piece in _TAGGED)),
        answer("".join(_TAGGED)),
    ),
    "thoughts in tags without an end": (
        _ended(chunk({"content": "<think>Where"}), chunk({"content": "? </thi"})),
        answer("<think>Where? </thi"),
    ),
    "a tag within the text, and one that is none": (
        _ended(chunk({"content": "\n<thin"}), chunk({"content": "k is <think>no</think> tag"})),
        answer("\n<think is <think>no</think> tag"),
    ),
    "the beginning of a tag and no more": (
        _ended(chunk({"content": " <th"})),
        answer(" <th"),
    ),
    "calls interleaved in one chunk": (
        _ended(
            chunk(
                {
                    "tool_calls": [
                        call_piece(0, id="a", name="s__weather"),
                        call_piece(1, id="b", name="s__time"),
                    ]
                }
            ),
            chunk({"tool_calls": [call_piece(0, '{"city": "Tro'), call_piece(1, "{")]}),
            chunk({"tool_calls": [call_piece(1, "}"), call_piece(0, 'msø ☃"}')]}),
        ),
        answer("", _TWO),
    ),
    "indexes left out": (
        _ended(
            chunk({"tool_calls": [call_piece(None, id="a", name="s__weather")]}),
            chunk({"tool_calls": [call_piece(None, '{"city": "Tro')]}),
            chunk({"tool_calls": [call_piece(None, 'msø ☃"}')]}),
            chunk({"tool_calls": [call_piece(None, "{}", id="b", name="s__time")]}),
        ),
        answer("", _TWO),
    ),
    "pieces told apart by ids alone": (
        _ended(
            chunk({"tool_calls": [call_piece(None, "", id="a", name="s__weather")]}),
            chunk({"tool_calls": [call_piece(None, "{", id="b", name="s__time")]}),
            chunk({"tool_calls": [call_piece(None, '{"city": "Tromsø ☃"}', id="a")]}),
            chunk({"tool_calls": [call_piece(None, "}", id="b")]}),
        ),
        answer("", _TWO),
    ),
    "every index 0": (
        _ended(
            *_FIRST,
            chunk({"tool_calls": [call_piece(0, 'msø ☃"}')]}),
            chunk({"tool_calls": [call_piece(0, "{}", id="b", name="s__time")]}),
        ),
        answer("", _TWO),
    ),
    "indexes with gaps and out of order": (
        _ended(
            chunk({"tool_calls": [call_piece(7, "{}", id="b", name="s__time")]}),
            chunk({"tool_calls": [call_piece(2, '{"city": ', id="a", name="s__weather")]}),
            chunk({"tool_calls": [call_piece(2, '"Tromsø ☃"}')]}),
        ),
        answer("", _TWO),
    ),
    "id and name repeated in every piece": (
        _ended(
            *_FIRST,
            chunk({"tool_calls": [call_piece(0, 'msø ☃"}', id="a", name="s__weather")]}),
            chunk({"tool_calls": [call_piece(1, "", id="b", name="s__time")]}),
        ),
        answer("", _TWO),
    ),
    "text after calls": (
        _ended(
            *_FIRST,
            chunk({"content": "Let "}),
            chunk({"tool_calls": [call_piece(0, 'msø ☃"}')]}),
            chunk({"content": "me see."}),
            chunk({"tool_calls": [call_piece(1, "{}", id="b", name="s__time")]}),
        ),
        answer("Let me see.", _TWO),
    ),
    "thoughts first": (
        _ended(
            chunk({"reasoning_content": "Hm, "}),
            chunk({"reasoning": "well."}),
            chunk({"content": "It is 7 °C."}),
            finish="stop",
        ),
        _thought(answer("It is 7 °C."), reasoning_content="Hm, ", reasoning="well."),
    ),
    "reasoning in entries, by index": (
        _ended(
            chunk({"reasoning_details": [_detail(0, text="Hm, ")]}),
            chunk({"reasoning_details": [_detail(0, text="well."), _detail(1, summary="So")]}),
            chunk({"reasoning_details": [_detail(0, signature="c2ln"), _detail(1, summary=" it is")]}),
            chunk({"reasoning_details": [_detail(1, data="ZW5j", id="rs_1")]}),
            chunk({"reasoning_details": [_detail(1, data="ZW5k", id="rs_2")]}),
            *_FIRST,
            chunk({"tool_calls": [call_piece(0, 'msø ☃"}')]}),
            chunk({"tool_calls": [call_piece(1, "{}", id="b", name="s__time")]}),
        ),
        _thought(
            answer("", _TWO),
            reasoning_details=[
                _detail(0, text="Hm, well.", signature="c2ln"),
                _detail(1, summary="So it is"),
                _detail(1, data="ZW5j", id="rs_1"),
                _detail(1, data="ZW5k", id="rs_2"),
            ],
        ),
    ),
    "thinking among the content": (
        _ended(
            chunk({"content": "Well: "}),
            chunk({"content": [_thinking("I should ")]}),
            chunk({"content": [_thinking("greet.")]}),
            chunk({"content": ""}),
            chunk({"content": "Hi"}),
            chunk({"content": [{"type": "text", "text": " you"}]}),
            finish="stop",
        ),
        _thought(
            answer(""),
            content=[
                {"type": "text", "text": "Well: "},
                _thinking("I should greet."),
                {"type": "text", "text": "Hi you"},
            ],
        ),
    ),
    "state of a call": (
        _ended(
            chunk({"tool_calls": [call_piece(0, "{", id="b", name="s__time", extra_content=_SIGNED)]}),
            chunk({"tool_calls": [call_piece(0, "}")]}),
        ),
        _signed(answer("", [("b", "s__time", {})])),
    ),
    "a name in pieces": (
        _ended(
            chunk({"tool_calls": [call_piece(0, id="a", name="s__")]}),
            chunk({"tool_calls": [call_piece(0, name="wea")]}),
            chunk({"tool_calls": [call_piece(0, name="ther")]}),
            chunk({"tool_calls": [call_piece(0, '{"city": "Tromsø ☃"}')]}),
            chunk({"tool_calls": [call_piece(1, id="b", name="s__time")]}),
        ),
        answer("", _TWO),
    ),
    "one index and no ids": (
        _ended(
            chunk({"tool_calls": [call_piece(0, "{}", name="s__time")]}),
            chunk({"tool_calls": [call_piece(0, "{}", name="s__time")]}),
            chunk({"tool_calls": [call_piece(0, '{"city": "Tromsø ☃"}', name="s__weather")]}),
            chunk({"tool_calls": [call_piece(0, '{"city": "Vardø"}', name="s__weather")]}),
        ),
        answer(
            "",
            [
                (None, "s__time", {}),
                (None, "s__time", {}),
                (None, "s__weather", {"city": "Tromsø ☃"}),
                (None, "s__weather", {"city": "Vardø"}),
            ],
        ),
    ),
    "a refusal": (
        _ended(chunk({"refusal": "I will "}), chunk({"refusal": "not."}), finish="stop"),
        _refused(),
    ),
    "no [DONE], and the usage in the last chunk": (
        [chunk({"content": "Hi"}), chunk({}, "stop", usage=answer()["usage"])],
        answer("Hi"),
    ),
    "[DONE] without a reason": (
        [chunk({"content": "Hi"}), data({"choices": [], "usage": answer()["usage"]}), DONE],
        {**answer("Hi"), "choices": [{"message": {"content": "Hi"}}]},
    ),
    "no blank line at the end": (
        [chunk({"content": "Hi"}), chunk({}, "stop", usage=answer()["usage"]).rstrip()],
        answer("Hi"),
    ),
    "content in parts": (
        _ended(
            chunk({"content": [{"type": "text", "text": "Hi"}]}), chunk({"content": " you"}), finish="stop"
        ),
        answer("Hi you"),
    ),
    "CRLF and a byte order mark": (
        [b"\xef\xbb\xbf", *(frame.replace(b"\n", b"\r\n") for frame in _ended(*_FIRST, finish="length"))],
        answer("", [("a", "s__weather", '{"city": "Tro')], "length"),
    ),
}


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    calls = [given for kind, given in parts if kind == "call"]
    texts = [given for kind, given in parts if kind == "text"]
    body = answer("".join(texts), calls, stop)
    (choice,) = body["choices"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    wire = iter(enumerate(choice["message"].get("tool_calls", [])))
    for kind, given in parts:
        if kind == "call":
            deltas += [{"tool_calls": [piece]} for piece in _call_pieces(*next(wire))]
        else:
            key = "content" if kind == "text" else "reasoning_content"
            deltas += [{key: piece} for piece in pieces(given)]
    if thoughts := "".join(given for kind, given in parts if kind == "thought"):
        choice["message"]["reasoning_content"] = thoughts
    usage = data({"id": "c1", "choices": [], "usage": body["usage"]})
    return body, [*map(chunk, deltas), chunk({}, choice["finish_reason"]), usage, DONE]


def conversation(body: Any) -> Iterator[Said]:
    for message in body["messages"]:
        if message["role"] == "user":
            yield "user", texts(message["content"])
        elif message["role"] == "tool":
            yield marked(message["content"])
        elif message["role"] == "assistant":
            yield "assistant", {"choices": [{"message": message, "finish_reason": "stop"}]}


_CHECK = also(checks.openai(KEY), lambda body: official_types.check_openai("chat", body))
PLACE = Place("openai/gpt-x", openai_variables, _CHECK, _CHECK)
