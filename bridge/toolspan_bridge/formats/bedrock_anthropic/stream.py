"""A streamed answer of InvokeModel: Claude's events in binary frames."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from typing_extensions import override

from ..shared.bedrock_errors import frame_error
from ..shared.claude.stream import MessageStream
from ..shared.contract import FormatError, StreamParser
from ..shared.framing.event_stream import Frame, FrameReader
from ..shared.json_values import (
    at,
    load,
    snippet,
    text,
)
from .parse import FORMAT


def parse_stream() -> StreamParser:
    """Binary frames, each with one of Anthropic's events in base64."""
    return _Stream()


class _Stream(MessageStream):
    def __init__(self) -> None:
        super().__init__(FORMAT)
        self._reader = FrameReader()

    @override
    def _frames(self, chunk: bytes) -> Iterable[str | bytes]:
        for frame in self._reader.feed(chunk):
            if self.finished:
                return
            if (event := _event(frame)) is not None:
                yield event

    @override
    def _last_frames(self) -> Iterable[str | bytes]:
        return ()


def _event(frame: Frame) -> bytes | None:
    """The event in a ``chunk``; ``None`` for frames of other types, unknown here."""
    if (failed := frame_error(frame)) is not None:
        raise failed
    if frame.header(":event-type") != "chunk":
        return None
    try:
        event = base64.b64decode(text(at(load(frame.payload), "bytes")), validate=True)
    except ValueError:
        event = b""
    if not event:
        raise FormatError(f"a chunk of the event stream cannot be read: {snippet(frame.payload)}")
    return event
