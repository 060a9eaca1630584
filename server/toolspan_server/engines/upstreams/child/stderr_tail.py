"""The last lines that a server wrote outside the protocol."""

from __future__ import annotations

from collections import deque


class StderrTail:
    """The last lines that a server wrote outside the protocol."""

    def __init__(self, lines: int = 20, width: int = 400) -> None:
        self._lines: deque[str] = deque(maxlen=lines)
        self._width = width

    def add(self, line: bytes, origin: str = "") -> None:
        """Keep ``line``, cut to the width; blank ones are not kept."""
        if text := line[: self._width * 4].decode("utf-8", "replace").strip():
            self._lines.append(origin + text[: self._width])

    def worth_keeping(self, chunk: bytes) -> bytes:
        """``chunk``, or what could be kept of it where it has many lines."""
        most = self._lines.maxlen or 0
        if chunk.count(b"\n") <= most:
            return chunk
        return b"\n" + b"\n".join(chunk.rsplit(b"\n", most + 1)[1:])

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first."""
        return tuple(self._lines)
