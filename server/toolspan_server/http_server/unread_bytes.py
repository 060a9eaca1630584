"""What is held for the clients of a process until they read it, within one limit over all."""

from __future__ import annotations

from typing import Protocol

LIMIT = "limits.unread_bytes"


class Holder(Protocol):
    """A connection or a session, as far as its client's unread bytes are concerned."""

    @property
    def held(self) -> int:
        """How much it holds now, in bytes."""
        ...

    def let_go(self, why: str) -> None:
        """End, because it holds the most; ``why`` names the limit."""
        ...


class UnreadBytes:
    """What every connection and session holds, at most ``most`` bytes together.

    When that is exceeded, those that hold the most end, until the rest is within the limit.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._holders: set[Holder] = set()

    def grew(self, holder: Holder) -> None:
        """Note that ``holder`` holds more than before."""
        self._holders.add(holder)
        sizes = {each: size for each in self._holders if (size := each.held) > 0}
        self._holders = set(sizes)
        left = sum(sizes.values())
        while left > self._most:
            largest = max(sizes, key=sizes.__getitem__)
            left -= sizes.pop(largest)
            self.gone(largest)
            largest.let_go(f"together its clients left more than {self._most:,} bytes unread ({LIMIT})")

    def gone(self, holder: Holder) -> None:
        """``holder`` holds nothing any more."""
        self._holders.discard(holder)
