"""A streamed Messages answer: Claude's events as server-sent events."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import override

from ..shared.claude.stream import MessageStream
from ..shared.contract import StreamParser
from ..shared.framing.sse import SseReader
from ..shared.replies.stream import data_of
from .parse import FORMAT


def parse_stream() -> StreamParser:
    """Named server-sent events, from ``message_start`` to ``message_stop``."""
    return _Stream()


class _Stream(MessageStream):
    def __init__(self) -> None:
        super().__init__(FORMAT)
        self._events = SseReader()

    @override
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        return data_of(self._events.feed(chunk))

    @override
    def _last_frames(self) -> Iterable[str | bytes]:
        return data_of(self._events.end())
