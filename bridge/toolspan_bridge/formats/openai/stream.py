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
from ..shared.contract import FormatError, StreamFailed, StreamParser
from ..shared.framing.sse import SseReader
from ..shared.json_values import (
    as_object,
    at,
    compact,
    objects,
    snippet,
    text,
)
from ..shared.openai_errors import failed_in_stream, parse_error
from ..shared.replies.errors import named_status
from ..shared.replies.parse import calls_in
from ..shared.replies.stops import stop_word
from ..shared.replies.stream import DONE, BodyStream, TextPieces, data_of
from .parse import content_text, parse_reply
from .stream_calls import CallPieces
from .stream_state import StatePieces


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
        self._calls = CallPieces()
        self._state = StatePieces()
        self._reason = ""
        self._usage: Any = None
        self._began = False
        self._stray: dict[str, Any] | None = None
        """The last event that is no chunk, nor known otherwise."""
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
            raise StreamFailed(parse_error(named_status(as_object(event["error"]) or event), {}, body))
        if groq := at(event, "x_groq", "error"):
            raise StreamFailed(failed_in_stream(as_object(groq) or {"message": text(groq)}))
        self._usage = event.get("usage") or self._usage
        if "choices" not in event and not event.get("usage") and not _is_idle(event):
            self._stray = event
        self._tier = event.get("service_tier") or self._tier
        for choice in objects(event.get("choices")):
            if failed := as_object(choice.get("error")):
                raise StreamFailed(failed_in_stream(failed))
            if not choice.get("index"):
                self._reason = stop_word(choice.get("finish_reason")) or self._reason
                yield from self._delta(self._delta_of(choice))

    def _delta_of(self, choice: dict[str, Any]) -> dict[str, Any]:
        """The delta of ``choice``. Where none came before, a whole message stands for it: some servers send
        all that calls tools in one chunk, and others say in the last one again what came."""
        if delta := as_object(choice.get("delta")):
            self._began = True
            return delta
        return {} if self._began else as_object(choice.get("message")) or {}

    def _delta(self, delta: dict[str, Any]) -> Iterator[Delta]:
        if thought := self._state.add(delta, self._text):
            yield ReasoningDelta(thought)
        if said := self._text.add(content_text(delta.get("content"))):
            yield TextDelta(said)
        if refused := self._refusal.add(content_text(delta.get("refusal"))):
            yield TextDelta(refused)
        for piece in objects(calls_in(delta)):
            if (shown := self._calls.add(piece)) is not None:
                yield shown

    @override
    def _whole(self) -> bool:
        return bool(self._reason) or (self._done and self._stray is None)

    @override
    def _reply(self) -> Reply:
        message = {"content": self._text.text, "refusal": self._refusal.text, **self._state.fields}
        if calls := self._calls.body:
            message["tool_calls"] = calls
        choice = {"message": message, "finish_reason": self._reason}
        return parse_reply({"choices": [choice], "usage": self._usage, "service_tier": self._tier})

    def _until_done(self, events: Iterable[tuple[str, str]]) -> Iterator[str]:
        for event in events:
            if event[1].strip() == DONE:
                self._done = True
                if self._stray is not None and not self._reason:
                    said = snippet(compact(self._stray))
                    raise FormatError(f"its stream ended without a reason, after {said}")
                return
            yield from data_of([event])


def _is_idle(event: dict[str, Any]) -> bool:
    """Whether an event only says that the stream goes on: a ping, or a chunk without choices."""
    return event.get("type") == "ping" or text(event.get("object")).startswith("chat.completion")
