"""Gemini's stream: partial answers, whose parts make up the one that would have come whole.

Source: the v1beta discovery document of 2026-08-16: calls come whole, the reason to finish and the usage in
the end. Server-sent events with ``alt=sse``; without it, or through some gateways, one JSON array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from typing_extensions import override

from ...messages import Reply
from ...messages.deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)
from ..shared.contract import FormatError, StreamFailed, StreamParser
from ..shared.framing.json_objects import ObjectReader
from ..shared.framing.sse import SseReader
from ..shared.json_values import (
    MAX_NESTING,
    as_object,
    at,
    compact,
    nesting,
    objects,
    text,
)
from ..shared.replies.stream import BodyStream, CallIds, TextPieces, data_of
from .errors import error_in_stream
from .grounding import with_fetched
from .parse import parse_reply


def parse_stream() -> StreamParser:
    """Parts of an answer, up to the one with the stop reason and the usage."""
    return _GeminiStream()


class _GeminiStream(BodyStream):
    def __init__(self) -> None:
        super().__init__()
        self._framing: SseReader | ObjectReader | None = None
        self._body: dict[str, Any] = {}
        self._candidate: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._open: TextPieces | None = None
        self._calls = 0
        self._ids = CallIds()

    @property
    @override
    def finished(self) -> bool:
        return self._whole() and "usageMetadata" in self._body

    @override
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        if self._framing is None:
            chunk = chunk.lstrip(b"\xef\xbb\xbf\r\n\t ")
            if not chunk:
                return []
            self._framing = ObjectReader() if chunk[:1] in b"[{" else SseReader()
        if isinstance(self._framing, ObjectReader):
            return self._framing.feed(chunk)
        return data_of(self._framing.feed(chunk))

    @override
    def _last_frames(self) -> Iterable[str | bytes]:
        return data_of(self._framing.end()) if isinstance(self._framing, SseReader) else []

    @override
    def _whole(self) -> bool:
        blocked = text(at(self._body, "promptFeedback", "blockReason"))
        return bool(text(self._candidate.get("finishReason")) or blocked)

    @override
    def _reply(self) -> Reply:
        self._close()
        return parse_reply(self._whole_body())

    @override
    def _take(self, event: dict[str, Any]) -> Iterator[Delta]:
        if nesting(event) > MAX_NESTING:
            raise FormatError(f"an event of the stream is nested deeper than {MAX_NESTING} levels")
        if (error := as_object(event.get("error"))) is not None:
            raise StreamFailed(error_in_stream(error))
        self._body |= {
            key: value for key, value in event.items() if key not in ("candidates", "error") and value
        }
        for candidate in objects(event.get("candidates"))[:1]:
            fetched = with_fetched(self._candidate, candidate)
            self._candidate |= {key: value for key, value in candidate.items() if key != "content" and value}
            self._candidate |= fetched
            content = as_object(candidate.get("content")) or {}
            for part in objects(content.get("parts")):
                yield from self._add(part)

    def _add(self, part: dict[str, Any]) -> Iterator[Delta]:
        """A part of the answer. Plain text goes on with plain text; what is signed is never merged."""
        plain = part.keys() <= {"text", "thought"} and isinstance(part.get("text"), str)
        if plain and not part["text"]:
            return
        last = self._parts[-1] if self._parts else {}
        if self._open is None or not plain or bool(last.get("thought")) != bool(part.get("thought")):
            self._close()
            self._parts.append(dict(part))
            self._open = TextPieces() if plain else None
        yield from self._shown(part)

    def _shown(self, part: dict[str, Any]) -> Iterator[Delta]:
        piece = text(part.get("text"))
        if self._open is not None:
            piece = self._open.add(piece)
        if piece and part.get("thought") is True:
            yield ReasoningDelta(piece)
        elif piece:
            yield TextDelta(piece)
        call = as_object(part.get("functionCall"))
        if call is not None and not self._ids.repeats(call.get("id")):
            arguments = call.get("args", {})
            written = arguments if isinstance(arguments, str) else compact(arguments)
            yield CallDelta(self._calls, text(call.get("name")), written)
            self._calls += 1

    def _close(self) -> None:
        if self._open is not None:
            self._parts[-1]["text"] = self._open.text
            self._open = None

    def _whole_body(self) -> dict[str, Any]:
        if not (self._parts or self._candidate.get("finishReason")):
            return self._body  # no content: a blocked prompt
        content = {"role": "model", "parts": self._parts}
        return {**self._body, "candidates": [{**self._candidate, "content": content}]}
