"""Server-sent events, read from bytes in whatever pieces they come.

Source: WHATWG HTML, section 9.2 "Server-sent events", as read on 2026-08.
"""

from __future__ import annotations

from .limits import Meter

__all__ = ["SseReader"]

_BOM = b"\xef\xbb\xbf"
_LF, _CR = b"\n", b"\r"


class SseReader:
    """Splits an event stream into (event, data) pairs; ``event`` is ``message`` where the stream names none.

    Lines end with LF, CR or CRLF, and are decoded only when they are complete, so that no character is split.
    Comments, ``id`` and ``retry`` are skipped, and so is an event without data. Raises ``FormatError``
    where the stream, or one event of it, is longer than ``meter`` allows.
    """

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Meter()
        self._line: list[bytes] = []
        self._size = 0
        self._first = True
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[tuple[str, str]]:
        """The events that ``chunk`` completes."""
        self._meter.stream(chunk)
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(_LF)
            self._after_cr = False
        found: list[tuple[str, str]] = []
        for piece in chunk.splitlines(keepends=True):
            self._size += len(piece)
            self._meter.event(self._size)
            self._line.append(piece)
            if piece.endswith((_LF, _CR)):
                found += self._end_line()
        self._after_cr = self._after_cr or chunk.endswith(_CR)
        return found

    def end(self) -> list[tuple[str, str]]:
        """The last event without its blank line, if any.

        WHATWG would drop it; some providers close the stream without it. It may be truncated, so use it only
        when its data is complete by itself, such as valid JSON.
        """
        return [*self._end_line(), *self._dispatch()] if self._line or self._data else []

    def _end_line(self) -> list[tuple[str, str]]:
        line = b"".join(self._line).rstrip(b"\r\n")
        self._line = []
        if self._first:
            line = line.removeprefix(_BOM)
            self._first = False
        if not line:
            return self._dispatch()
        name, _, value = line.decode("utf-8", "replace").partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        elif name == "event":
            self._event = value.removeprefix(" ")
        return []

    def _dispatch(self) -> list[tuple[str, str]]:
        event = (self._event or "message", "\n".join(self._data))
        whole = bool(self._data)
        self._event, self._data, self._size = "", [], 0
        return [event] if whole else []
