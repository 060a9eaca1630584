"""How many requests each principal may make, and how many streams it may follow."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ..problems import Problem

_MOST_PRINCIPALS = 10_000
_AT_ONCE = 6
"""A sixth of a minute's requests may come at once."""


class RateLimits:
    """A bucket of requests for each principal, which fills again all the time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, principal: str, per_minute: int) -> None:
        """Count a request. Raises ``Problem`` 429, with ``Retry-After`` in whole seconds, when it is too
        many."""
        now, most = self._clock(), max(1.0, per_minute / _AT_ONCE)
        left, at = self._left.pop(principal, (most, now))
        left = min(most, left + (now - at) * per_minute / 60)
        self._left[principal] = (left - 1 if left >= 1 else left, now)
        while len(self._left) > _MOST_PRINCIPALS:
            self._left.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) * 60 / per_minute)
            detail = f"at most {per_minute:,} requests a minute (web.requests_per_minute): wait {wait} s"
            raise Problem(429, detail, headers={"Retry-After": str(wait)})


class OpenStreams:
    """The streams that each principal follows."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    @contextmanager
    def one_of(self, principal: str, most: int) -> Generator[None]:
        """One more stream of ``principal`` for the block. Raises ``Problem`` 429 where it has ``most``
        already."""
        if self._open[principal] >= most:
            detail = f"at most {most:,} streams may be followed at once (web.streams): close one"
            raise Problem(429, detail, "too_many_streams", headers={"Retry-After": "1"})
        self._open[principal] += 1
        try:
            yield
        finally:
            self._open[principal] -= 1
            if not self._open[principal]:
                del self._open[principal]
