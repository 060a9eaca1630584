"""Ollama's chat as a stream of lines, gathered into the answer that they add up to.

Source: ollama v0.33.0-rc2, ``server/routes.go`` and ``docs/api/errors.mdx``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typing_extensions import override

from ...messages import Reply
from ...messages.deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)
from ..shared.contract import StreamFailed, StreamParser
from ..shared.framing.ndjson import LineReader
from ..shared.json_values import (
    as_list,
    as_object,
    at,
    compact,
    text,
)
from ..shared.replies.errors import named_status
from ..shared.replies.stream import BodyStream, CallIds, TextPieces
from .errors import parse_error
from .parse import parse_reply


def parse_stream() -> StreamParser:
    """A JSON line a piece; the last one has ``done``."""
    return _OllamaStream()


class _OllamaStream(BodyStream):
    """Pieces of content and thinking, and whole calls, over all lines; the last one has ``done`` and the
    counts. An error is a line too, after HTTP 200."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = LineReader()
        self._text, self._thinking = TextPieces(), TextPieces()
        self._calls: list[Any] = []
        self._ids = CallIds()
        self._shown = 0
        self._last: dict[str, Any] = {}

    @property
    @override
    def finished(self) -> bool:
        return self._last.get("done") is True

    @override
    def _frames(self, chunk: bytes) -> list[bytes]:
        return self._lines.feed(chunk)

    @override
    def _last_frames(self) -> list[bytes]:
        return self._lines.end()

    @override
    def _take(self, event: dict[str, Any]) -> Iterator[Delta]:
        if event.get("error"):
            body = compact(event).encode("utf-8", "replace")
            status = named_status({key.lower(): value for key, value in event.items()})
            raise StreamFailed(parse_error(status, {}, body))
        self._last = event
        message = as_object(event.get("message")) or {}
        if thought := self._thinking.add(text(message.get("thinking"))):
            yield ReasoningDelta(thought)
        if said := self._text.add(text(message.get("content"))):
            yield TextDelta(said)
        for call in as_list(message.get("tool_calls")) or []:
            if at(call, "function", "index") is not None and call in self._calls:
                continue  # a line that has all calls so far
            self._calls.append(call)
            if not self._ids.repeats(at(call, "id")):
                yield self._shown_call(call)

    @override
    def _whole(self) -> bool:
        return self.finished

    @override
    def _reply(self) -> Reply:
        message: dict[str, Any] = {"role": "assistant", "content": self._text.text}
        if thinking := self._thinking.text:
            message["thinking"] = thinking
        if self._calls:
            message["tool_calls"] = self._calls
        return parse_reply({**self._last, "message": message})

    def _shown_call(self, call: Any) -> CallDelta:
        arguments = at(call, "function", "arguments")
        written = arguments if isinstance(arguments, str) else compact(arguments)
        self._shown += 1
        return CallDelta(self._shown - 1, text(at(call, "function", "name")), written)
