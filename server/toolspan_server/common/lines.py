"""Splits a stream of bytes into lines of bounded length."""

from __future__ import annotations

from typing import NamedTuple

MAX_LINE_BYTES = 4 * 1024 * 1024
_ENDS = 1024


class Overlong(NamedTuple):
    """The first and last bytes of a line of more than ``limit`` bytes."""

    head: bytes
    tail: bytes
    limit: int = MAX_LINE_BYTES


class Lines:
    """Splits a stream of bytes into lines of at most ``limit`` bytes.

    A longer line is dropped as it arrives and given once as ``Overlong``, so memory stays bounded.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._head: bytes | None = None

    def feed(self, chunk: bytes) -> list[bytes | Overlong]:
        """Every line that ``chunk`` completes, without its newline."""
        parts = chunk.split(b"\n")
        rest = parts.pop()
        lines: list[bytes | Overlong] = []
        for part in parts:
            if self._kept or len(part) > self._limit:
                self._keep(part)
                lines.append(self.end())
            else:
                lines.append(part)
        if rest:
            self._keep(rest)
        return lines

    @property
    def kept_bytes(self) -> int:
        """The number of bytes of the incomplete line."""
        return len(self._kept) + len(self._head or b"")

    def end(self) -> bytes | Overlong:
        """The last line, when no newline ended it; ``b""`` when there is none."""
        kept, head = bytes(self._kept), self._head
        self._kept.clear()
        self._head = None
        return kept if head is None else Overlong(head, kept, self._limit)

    def _keep(self, part: bytes) -> None:
        self._kept += part
        if self._head is None and len(self._kept) > self._limit:
            self._head = bytes(self._kept[:_ENDS])
        if self._head is not None:
            del self._kept[:-_ENDS]
