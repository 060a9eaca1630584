"""Chat Completions as a stream of chunks, gathered into the answer that they add up to.

Source: the openai 3.54.0 client, ``_streaming.py`` and ``types/chat/chat_completion_chunk.py``; what
compatible servers do otherwise (indexes left out, all 0 or with gaps, no ``[DONE]``) is read too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from typing_extensions import override

from ...messages import Reply
from ...messages.deltas import Delta, ReasoningDelta, TextDelta
from ..shared.contract import StreamFailed, StreamParser
from ..shared.framing.sse import SseReader
from ..shared.json_values import (
    as_object,
    at,
    compact,
    objects,
    text,
)
from ..shared.openai_errors import failed_in_stream, parse_error
from ..shared.replies.stream import BodyStream, TextPieces
from ..shared.replies.thoughts import TaggedThoughts
from .parse import content_text, parse_reply
from .stream_calls import CallPieces
from .stream_state import StatePieces

_DONE = "[DONE]"
_STATUS = {
    "authentication_error": 401,
    "invalid_request_error": 400,
    "rate_limit_exceeded": 429,
    "server_is_overloaded": 503,
    "slow_down": 429,
}


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
        self._tagged = TaggedThoughts()
        self._calls = CallPieces()
        self._state = StatePieces()
        self._reason: Any = None
        self._usage: Any = None
        self._tier: Any = None

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
        self._tier = event.get("service_tier") or self._tier
        for choice in objects(event.get("choices")):
            if failed := as_object(choice.get("error")):
                raise StreamFailed(failed_in_stream(failed))
            if not choice.get("index"):
                self._reason = choice.get("finish_reason") or self._reason
                yield from self._delta(as_object(choice.get("delta")) or {})
                if self._reason:
                    yield from self._tagged.end()

    def _delta(self, delta: dict[str, Any]) -> Iterator[Delta]:
        if thought := self._state.add(delta, self._text):
            yield ReasoningDelta(thought)
        yield from self._tagged.feed(self._text.add(content_text(delta.get("content"))))
        if refused := self._refusal.add(content_text(delta.get("refusal"))):
            yield TextDelta(refused)
        for piece in objects(delta.get("tool_calls")):
            if (shown := self._calls.add(piece)) is not None:
                yield shown

    @override
    def _whole(self) -> bool:
        return self._done or bool(self._reason)

    @override
    def _reply(self) -> Reply:
        shown = "" if self._tagged.undecided and not self._whole() else self._text.text
        message = {"content": shown, "refusal": self._refusal.text, **self._state.fields}
        if calls := self._calls.body:
            message["tool_calls"] = calls
        choice = {"message": message, "finish_reason": self._reason}
        return parse_reply({"choices": [choice], "usage": self._usage, "service_tier": self._tier})

    def _until_done(self, events: Iterable[tuple[str, str]]) -> Iterator[str]:
        for _, data in events:
            if data.strip() == _DONE:
                self._done = True
                return
            yield data


def _status(event: dict[str, Any]) -> int:
    """What the HTTP status would have been, had it not been sent already."""
    code, kind = at(event, "error", "code"), at(event, "error", "type")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    return next((_STATUS[word] for word in (text(code), text(kind)) if word in _STATUS), 500)
