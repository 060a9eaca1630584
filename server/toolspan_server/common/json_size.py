"""Count the values of JSON before it is parsed.

The parsers are written in C and keep Python's lock until they are done, in a thread too: 10 MB of ``[],``
keep everybody waiting for seconds, and take 60 times their size. Whoever reads JSON from elsewhere counts
first.
"""

from __future__ import annotations

import json
from itertools import accumulate

MAX_VALUES = 100_000
"""Most values in JSON that the event loop itself reads. The slowest, keys that differ, take 30 ms, and 60 ms
of a message of an MCP server, which the SDK reads."""
MAX_VALUES_BESIDE = 250_000
"""Most values in JSON that is parsed beside the event loop, where nothing else is done with them."""

_BEFORE_VALUES = (b",", b"[", b"{")
_PIECE_BYTES = 65_536


class ValueCounter:
    """Counts the values of JSON in UTF-8 that comes in chunks: each but the first stands after one of ``,[{``
    outside texts, so that ``found`` is never less than there are. Empty lists and objects count twice."""

    def __init__(self) -> None:
        self.found = 0
        self._in_text = False
        self._escaped = False

    def feed(self, chunk: bytes) -> None:
        """Count what is in ``chunk``."""
        if self._escaped and chunk:
            chunk, self._escaped = chunk[1:], False
        if b"\\" in chunk:
            chunk = chunk.replace(b"\\\\", b"")
            self._escaped = chunk.endswith(b"\\")
            chunk = chunk.replace(b'\\"', b"")
        pieces = chunk.split(b'"')
        self.found += _signs(b"".join(pieces[self._in_text :: 2]))
        self._in_text ^= len(pieces) % 2 == 0


def holds_more_values(source: str | bytes, most: int) -> bool:
    """Whether ``source``, which may be invalid, may hold more than ``most`` values.

    It is read piece by piece, so that a thread that does this lets others run.
    """
    if len(source) <= most:
        return False
    raw = source.encode("utf-8", "replace") if isinstance(source, str) else source
    pieces = [raw[start : start + _PIECE_BYTES] for start in range(0, len(raw), _PIECE_BYTES)]
    if all(signs <= most for signs in accumulate(_signs(piece) for piece in pieces)):
        return False
    if not json.detect_encoding(raw).startswith("utf-8"):
        return True  # a byte of another encoding may look like a quote
    counter = ValueCounter()
    for piece in pieces:
        counter.feed(piece)
        if counter.found > most:
            return True
    return False


def _signs(text: bytes) -> int:
    return sum(map(text.count, _BEFORE_VALUES))
