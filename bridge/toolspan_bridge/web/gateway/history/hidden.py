"""What a client did not see of its answers: our calls, their results, and what providers must get back."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....conversation.message_json import message_data
from ....messages import Message

__all__ = ["MOST_BYTES", "MOST_OF_ONE", "SECONDS", "Hidden", "HiddenTurns"]

MOST_OF_ONE = 2_000
"""The most answers of one principal that are kept."""
MOST_BYTES = 256 * 1024 * 1024
"""The most bytes that the answers of all may have."""
SECONDS = 24 * 3600.0
"""How long an answer is kept after it was last needed."""
_BASE_BYTES = 512


@dataclass(frozen=True, slots=True)
class Hidden:
    """One answer as the provider gave it: all its ``messages``. ``ids`` are the provider's ids of the calls
    that the client knows by others; ``conversation`` is the id of the conversation. ``body`` is the answer as
    the client has it, where that is stored."""

    messages: tuple[Message, ...]
    conversation: str
    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _Kept:
    hidden: Hidden
    bytes: int
    until: float


class HiddenTurns:
    """The answers of all principals, by keys. The oldest give way: when a principal has more than
    ``most_of_one``, or ``seconds`` have passed; when all have more than ``most_bytes``, those of the
    principal who has the most.
    """

    def __init__(
        self,
        most_of_one: int = MOST_OF_ONE,
        most_bytes: int = MOST_BYTES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_of_one = most_of_one
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._counts: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._bytes = 0

    def keep(self, principal: str, keys: Iterable[str], hidden: Hidden) -> None:
        """Keep ``hidden`` for ``principal`` under each of ``keys``."""
        size = _BASE_BYTES + sum(len(repr(message_data(message))) for message in hidden.messages)
        size += len(repr(hidden.body))
        for key in keys:
            self._forget((principal, key))
            self._kept[principal, key] = _Kept(hidden, size, self._clock() + self._seconds)
            self._counts[principal] = self._counts.get(principal, 0) + 1
            self._sizes[principal] = self._sizes.get(principal, 0) + size
            self._bytes += size
        self._make_room(principal)

    def find(self, principal: str, key: str) -> Hidden | None:
        """What is kept for ``principal`` under ``key``."""
        kept = self._kept.get((principal, key))
        if kept is None:
            return None
        if kept.until < self._clock():
            self._forget((principal, key))
            return None
        kept.until = self._clock() + self._seconds
        self._kept.move_to_end((principal, key))
        return kept.hidden

    def forget(self, principal: str, key: str) -> bool:
        """Forget what is kept under ``key``; whether there was such."""
        known = self.find(principal, key) is not None
        self._forget((principal, key))
        return known

    def _make_room(self, principal: str) -> None:
        while self._counts.get(principal, 0) > self._most_of_one:
            self._forget_oldest(principal)
        now = self._clock()
        while self._kept and next(iter(self._kept.values())).until < now:
            self._forget(next(iter(self._kept)))
        while self._bytes > self._most_bytes:
            self._forget_oldest(max(self._sizes, key=self._sizes.__getitem__))

    def _forget_oldest(self, principal: str) -> None:
        self._forget(next(place for place in self._kept if place[0] == principal))

    def _forget(self, place: tuple[str, str]) -> None:
        kept = self._kept.pop(place, None)
        if kept is None:
            return
        self._bytes -= kept.bytes
        self._sizes[place[0]] -= kept.bytes
        left = self._counts[place[0]] - 1
        if left:
            self._counts[place[0]] = left
        else:
            del self._counts[place[0]], self._sizes[place[0]]
