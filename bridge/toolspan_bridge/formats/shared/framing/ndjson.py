"""JSON lines, read from bytes in whatever pieces they come."""

from __future__ import annotations

from .limits import Meter

__all__ = ["LineReader"]


class LineReader:
    """Splits bytes into lines that end with LF or CRLF; blank ones, which keep a connection alive, are
    skipped. Raises ``FormatError`` where the stream, or one line of it, is longer than ``meter`` allows.
    """

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Meter()
        self._line: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that ``chunk`` completes, without their line ends."""
        self._meter.stream(chunk)
        *ended, rest = chunk.split(b"\n")
        found = [self._end_line(piece) for piece in ended]
        self._take(rest)
        return [line for line in found if line]

    def end(self) -> list[bytes]:
        """The last line without a line end, if any. It may be truncated: parsing it as JSON shows that."""
        line = self._end_line(b"")
        return [line] if line else []

    def _end_line(self, piece: bytes) -> bytes:
        self._take(piece)
        line = b"".join(self._line).strip()
        self._line, self._size = [], 0
        return line

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        self._meter.event(self._size)
        if piece:
            self._line.append(piece)
