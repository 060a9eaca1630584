"""What happens in the app, told to any number of followers, who may come back to where they were."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import anyio

from ...principals import is_operator

_MOST_KEPT = 1_000
_OF_OPERATOR = ("config_failed", "note")
"""What is told of the config, and of what was done for anybody: to whoever runs the app alone."""


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """An event of the feed: its ``id`` grows by one, and is larger than those of an earlier process."""

    id: int
    name: str
    data: dict[str, Any]


class EventFeed:
    """The last 1,000 events, and those to come. Ids begin at the time, in microseconds since 1970."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._kept: deque[FeedEvent] = deque(maxlen=most)
        self._began = self._last = time.time_ns() // 1_000
        self._more = anyio.Event()

    @property
    def last(self) -> int:
        """The id of the last event."""
        return self._last

    def tell(self, name: str, data: dict[str, Any]) -> None:
        """Add an event. Not safe from other threads."""
        self._last += 1
        self._kept.append(FeedEvent(self._last, name, data))
        more, self._more = self._more, anyio.Event()
        more.set()

    async def after(self, last: int | None, principal: str) -> AsyncGenerator[FeedEvent]:
        """The events for ``principal`` after the one of the id ``last``, as they come; only those to come
        without it. Of those that are not kept any more, an event ``missed`` says how many."""
        seen = self._last if last is None else last
        hidden = () if is_operator(principal) else _OF_OPERATOR
        while True:
            more = self._more
            oldest = self._last - len(self._kept)
            if not oldest <= seen <= self._last:
                here = self._began <= seen <= self._last
                yield FeedEvent(oldest, "missed", {"events": oldest - seen if here else None})
                seen = oldest
            for event in [each for each in self._kept if each.id > seen]:
                if event.name not in hidden:
                    yield event
                seen = event.id
            if seen == self._last:
                await more.wait()
