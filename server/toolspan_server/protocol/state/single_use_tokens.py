"""Tokens that are good once, for this process and the workers that it starts."""

from __future__ import annotations

import mmap
import os
import secrets
import struct
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache

_SLOTS = 16_384
_NEAR = 8
_ENTRY = struct.Struct("<16sd")
_FREE = bytes(16), 0.0


class SingleUse:
    """Gives tokens, and takes each once before its time is over.

    They are kept in memory that forked processes share, at most ``slots`` of them: where there is no room for
    another one, the one nearby that ends first is forgotten. What is not known is not taken.
    """

    def __init__(self, slots: int = _SLOTS) -> None:
        self._slots = slots
        self._table = mmap.mmap(-1, slots * _ENTRY.size)
        self._lock = -1 if sys.platform == "win32" else _lock_file()

    def issue(self, seconds: float) -> str:
        """A new token, good for so long."""
        token = secrets.token_bytes(16)
        with self._alone():
            place = min(self._places(token), key=lambda place: _ENTRY.unpack_from(self._table, place)[1])
            _ENTRY.pack_into(self._table, place, token, time.time() + seconds)
        return token.hex()

    def redeem(self, token: str) -> bool:
        """Whether ``token`` is good; it is not any more."""
        wanted = bytes.fromhex(token)
        with self._alone():
            for place in self._places(wanted):
                known, until = _ENTRY.unpack_from(self._table, place)
                if known == wanted:
                    _ENTRY.pack_into(self._table, place, *_FREE)
                    return bool(time.time() < until)
        return False

    def _places(self, token: bytes) -> list[int]:
        first = int.from_bytes(token[:4], "big")
        return [(first + step) % self._slots * _ENTRY.size for step in range(_NEAR)]

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Keep the other processes out for a moment; the system ends that when this one dies."""
        if sys.platform == "win32":
            yield
            return
        import fcntl

        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)


def _lock_file() -> int:
    """A descriptor of a file that has no name."""
    if sys.platform == "linux":
        return os.memfd_create("toolspan")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


@cache
def single_use() -> SingleUse:
    """The tokens of this process. Ask before the workers are forked: they then share them."""
    return SingleUse()
