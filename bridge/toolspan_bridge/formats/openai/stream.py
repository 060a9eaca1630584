"""Chat Completions as a stream of chunks, gathered into the answer that they add up to.

Source: the openai 3.54.0 client, ``_streaming.py`` and ``types/chat/chat_completion_chunk.py``; what
compatible servers do otherwise (indexes left out, all 0 or with gaps, no ``[DONE]``) is read too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from typing_extensions import override

from ...deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)
from ...messages import Reply
from ..shared.contract import StreamFailed, StreamParser
from ..shared.framing.sse import SseReader
from ..shared.json_values import (
    as_object,
    at,
    compact,
    objects,
    text,
)
from ..shared.openai_errors import parse_error
from ..shared.replies.stream import BodyStream, TextPieces
from .parse import content_text, parse_reply

_DONE = "[DONE]"
_STATUS = {
    "authentication_error": 401,
    "invalid_request_error": 400,
    "rate_limit_exceeded": 429,
    "server_is_overloaded": 503,
    "slow_down": 429,
}


class _Call:
    def __init__(self, place: int, index: int | None) -> None:
        self.place = place
        self.index = index
        self.id = ""
        self.name = ""
        self.arguments = TextPieces()

    @property
    def body(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": self.arguments.text}
        return {"id": self.id, "type": "function", "function": function}


class _Calls:
    """The calls of a turn, their pieces put together by index, or by id where that is more exact."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def add(self, piece: dict[str, Any]) -> CallDelta:
        call_id, name = text(piece.get("id")), text(at(piece, "function", "name"))
        index = piece.get("index")
        index = index if isinstance(index, int) else None
        call = self._open(index, call_id)
        if call is None or self._begins_another(call, call_id, name):
            call = _Call(len(self._calls), index)
            self._calls.append(call)
        named = "" if call.name else name
        call.id, call.name = call.id or call_id, call.name or name
        self._by_id.setdefault(call.id, call)
        if index is not None:
            self._by_index[index] = call
        return CallDelta(call.place, named, call.arguments.add(_written(at(piece, "function", "arguments"))))

    @property
    def body(self) -> list[dict[str, Any]]:
        """By index, where every call has one; else in the order that they came in."""
        placed = [(call.index, call.place, call) for call in self._calls if call.index is not None]
        if len(placed) < len(self._calls):
            return [call.body for call in self._calls]
        return [call.body for _, _, call in sorted(placed, key=lambda each: each[:2])]

    def _open(self, index: int | None, call_id: str) -> _Call | None:
        """The call that a piece belongs to: of its index, else of its id, else the one that came last."""
        if index is not None:
            return self._by_index.get(index)
        last = self._calls[-1] if self._calls else None
        return self._by_id.get(call_id, last) if call_id else last

    @staticmethod
    def _begins_another(call: _Call, call_id: str, name: str) -> bool:
        """Some servers number all calls 0, or none: then a name with another id begins the next."""
        if not name or not call.name:
            return False
        return name != call.name or (bool(call_id) and bool(call.id) and call_id != call.id)


def parse_stream() -> StreamParser:
    """Chunks of Server-Sent Events, to ``[DONE]``."""
    return _ChatStream()


class _ChatStream(BodyStream):
    """``data:`` chunks until ``[DONE]``.

    The answer is whole with its ``finish_reason``: not every server sends ``[DONE]``, and the usage may come
    in between.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sse = SseReader()
        self._done = False
        self._text, self._refusal = TextPieces(), TextPieces()
        self._calls = _Calls()
        self._reason: Any = None
        self._usage: Any = None

    @property
    @override
    def finished(self) -> bool:
        return self._done

    @override
    def _frames(self, chunk: bytes) -> Iterator[str]:
        return self._until_done(self._sse.feed(chunk))

    @override
    def _last_frames(self) -> Iterator[str]:
        return self._until_done(self._sse.end())

    @override
    def _take(self, event: dict[str, Any]) -> Iterator[Delta]:
        if event.get("error"):
            body = compact(event).encode("utf-8", "replace")
            raise StreamFailed(parse_error(_status(event), {}, body))
        self._usage = event.get("usage") or self._usage
        for choice in objects(event.get("choices")):
            if not choice.get("index"):
                self._reason = choice.get("finish_reason") or self._reason
                yield from self._delta(as_object(choice.get("delta")) or {})

    def _delta(self, delta: dict[str, Any]) -> Iterator[Delta]:
        thought = text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
        if thought:
            yield ReasoningDelta(thought)
        for joined, key in ((self._text, "content"), (self._refusal, "refusal")):
            if shown := joined.add(content_text(delta.get(key))):
                yield TextDelta(shown)
        for piece in objects(delta.get("tool_calls")):
            yield self._calls.add(piece)

    @override
    def _whole(self) -> bool:
        return self._done or bool(self._reason)

    @override
    def _reply(self) -> Reply:
        message: dict[str, Any] = {"content": self._text.text, "refusal": self._refusal.text}
        if calls := self._calls.body:
            message["tool_calls"] = calls
        choice = {"message": message, "finish_reason": self._reason}
        return parse_reply({"choices": [choice], "usage": self._usage})

    def _until_done(self, events: Iterable[tuple[str, str]]) -> Iterator[str]:
        for _, data in events:
            if data.strip() == _DONE:
                self._done = True
                return
            yield data


def _written(arguments: Any) -> str:
    """More of the arguments' JSON; some servers send them whole, as an object."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else compact(arguments)


def _status(event: dict[str, Any]) -> int:
    """What the HTTP status would have been, had it not been sent already."""
    code, kind = at(event, "error", "code"), at(event, "error", "type")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    return next((_STATUS[word] for word in (text(code), text(kind)) if word in _STATUS), 500)
