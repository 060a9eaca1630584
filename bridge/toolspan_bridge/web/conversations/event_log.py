"""The events of one conversation: kept within limits, and given to whoever follows, from wherever they
were."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import anyio

RESET = "reset"


@dataclass(frozen=True, slots=True)
class ConversationEvent:
    """An event. Its ``id`` is larger than those of all before it, also than those of an earlier process."""

    id: int
    name: str
    data: dict[str, Any]


class EventLog:
    """The last ``most`` events, of at most ``characters`` together. ``reset`` is the data of the event that
    stands for those that are not kept any more.

    Ids begin at the time, in microseconds since 1970: one of an earlier process is told from those of this
    one.
    """

    def __init__(self, most: int, characters: int, reset: dict[str, Any]) -> None:
        self._most, self._characters = most, characters
        self._reset = reset
        self._kept: deque[tuple[ConversationEvent, int]] = deque()
        self._held = 0
        self._first = self._last = time.time_ns() // 1_000
        self._run_began = self._last
        self._more = anyio.Event()
        self._closed = False
        self.followers = 0

    @property
    def last(self) -> int:
        """The id of the last event."""
        return self._last

    def begin_run(self) -> None:
        """What comes from now on is of another run."""
        self._run_began = self._last

    def add(self, name: str, data: dict[str, Any]) -> None:
        """Add an event. Not safe from other threads."""
        self._last += 1
        size = len(json.dumps(data, default=str))
        self._kept.append((ConversationEvent(self._last, name, data), size))
        self._held += size
        while len(self._kept) > self._most or (self._held > self._characters and len(self._kept) > 1):
            dropped, size = self._kept.popleft()
            self._held -= size
            self._first = dropped.id
        self._tell()

    def close(self) -> None:
        """End the streams of all who follow, once they have all events."""
        self._closed = True
        self._tell()

    async def after(self, last: int | None) -> AsyncGenerator[ConversationEvent]:
        """The events after the one of the id ``last``, as they come; without it those of the latest run.

        Where some of them are not kept any more, or ``last`` is no id of this log, an event ``reset`` comes
        first: what is to be known then is read anew, and those that come follow it.
        """
        seen = self._run_began if last is None else last
        self.followers += 1
        try:
            while True:
                more = self._more
                if not self._first <= seen <= self._last:
                    seen = self._last
                    yield ConversationEvent(seen, RESET, self._reset)
                for event in self._newer(seen):
                    if event.id != seen + 1:
                        break  # others were dropped while this one was sent
                    seen = event.id
                    yield event
                if seen == self._last:
                    if self._closed:
                        return
                    await more.wait()
        finally:
            self.followers -= 1

    def _newer(self, seen: int) -> list[ConversationEvent]:
        newest = min(self._last - seen, len(self._kept))
        return [self._kept[place][0] for place in range(-newest, 0)]

    def _tell(self) -> None:
        more, self._more = self._more, anyio.Event()
        more.set()
