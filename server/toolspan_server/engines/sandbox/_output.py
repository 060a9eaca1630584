"""What a command has written: its beginning and its end, counted while it is read, never kept whole."""

from __future__ import annotations


class Output:
    """Keeps at most ``limit`` bytes: of more, the first half and the last. ``total`` counts all of them."""

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._limit = limit
        self._start = bytearray()
        self._end = bytearray()
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        """Take ``chunk`` in."""
        self.total += len(chunk)
        half = self._limit - self._limit // 2
        room = half - len(self._start)
        if room > 0:
            self._start += chunk[:room]
            chunk = chunk[room:]
        self._end += chunk
        surplus = len(self._end) - (self._limit - half)
        if surplus > 0:
            self._left_out += surplus
            del self._end[:surplus]

    def take(self, *, whole: bool = True) -> str:
        """What was written since the last ``take``, as text; a marker stands for what was left out.

        Unless it is ``whole``, the bytes of a character of which more may come are kept for the next time.
        """
        kept = b"" if whole else _unfinished(self._end or self._start)
        start, end, left_out = bytes(self._start), bytes(self._end), self._left_out
        if kept:
            start, end = (start, end[: -len(kept)]) if end else (start[: -len(kept)], end)
        self._start, self._end, self._left_out = bytearray(kept), bytearray(), 0
        if not left_out:
            return (start + end).decode("utf-8", "replace")
        marker = f"\n[… {left_out:,} bytes left out here: output_bytes is {self._limit:,} …]\n"
        return (
            _cut_after(start).decode("utf-8", "replace")
            + marker
            + _cut_before(end).decode("utf-8", "replace")
        )


def _unfinished(data: bytes | bytearray) -> bytes:
    """The bytes at the end that begin a character of UTF-8 and are not all of it."""
    for length in range(1, min(3, len(data)) + 1):
        byte = data[-length]
        if byte & 0xC0 == 0x80:
            continue
        wanted = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return bytes(data[-length:]) if wanted > length else b""
    return b""


def _cut_after(data: bytes) -> bytes:
    unfinished = _unfinished(data)
    return data[: -len(unfinished)] if unfinished else data


def _cut_before(data: bytes) -> bytes:
    """``data`` from its first whole character on."""
    skipped = next((place for place, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
    return data[skipped:]
