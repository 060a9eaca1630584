"""Limits on the size of one streamed answer, for every framing."""

from __future__ import annotations

from ..contract import FormatError

MAX_STREAM_BYTES = 32 * 1024 * 1024
MAX_EVENT_BYTES = 4 * 1024 * 1024


class Meter:
    """Counts the bytes of a stream and of its current event."""

    def __init__(self, *, stream: int = MAX_STREAM_BYTES, event: int = MAX_EVENT_BYTES) -> None:
        self._stream = stream
        self._event = event
        self._read = 0

    def stream(self, chunk: bytes) -> None:
        """Count ``chunk``. Raises ``FormatError`` when the whole stream is too long."""
        self._read += len(chunk)
        if self._read > self._stream:
            raise FormatError(f"the streamed answer is longer than {self._stream} bytes")

    def event(self, size: int) -> None:
        """Check the bytes of one event. Raises ``FormatError`` when they are too many."""
        if size > self._event:
            raise FormatError(f"an event of the streamed answer is longer than {self._event} bytes")
