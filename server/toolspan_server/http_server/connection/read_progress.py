"""Measures how fast a client reads what is written to it."""

from __future__ import annotations

_LEAST_TAKEN = 65_536


class ReadProgress:
    """Whether a client reads 64 KiB of the pending output within each ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._taken = 0
        self._due: float | None = None

    def is_late(self, now: float, written: int, left: int) -> bool:
        """Whether it has read too little by ``now``, when ``left`` of ``written`` bytes are unread."""
        taken = written - left
        if not left:
            self._due = None
        elif self._due is None or taken - self._taken >= _LEAST_TAKEN:
            self._taken = taken
            self._due = now + self._seconds
        else:
            return now >= self._due
        return False
