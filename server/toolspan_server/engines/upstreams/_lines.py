"""Bytes into lines, with a limit on what one line may hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

_HEAD = 200


class Lines:
    """Splits chunks at newlines. A line over ``limit`` bytes is dropped while it arrives; its first bytes,
    marked, are all that is kept of it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._dropping = False

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, bool]]:
        """The lines that ``chunk`` completes, each with whether it was too long; no empty ones."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if not piece and not self._kept:
                continue
            self._keep(piece)
            yield bytes(self._kept), self._dropping
            self._kept.clear()
            self._dropping = False
        self._keep(rest)

    def rest(self) -> bytes:
        """What came after the last newline."""
        return bytes(self._kept)

    def _keep(self, piece: bytes) -> None:
        if not self._dropping and len(self._kept) + len(piece) > self._limit:
            self._dropping = True
            self._kept += piece[:_HEAD]
            del self._kept[_HEAD:]
        elif not self._dropping:
            self._kept += piece


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
