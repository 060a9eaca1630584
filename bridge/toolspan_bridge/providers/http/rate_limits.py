"""How fast requests are sent to an account at a provider: slower where it refuses them, then faster again."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio

from toolspan_server.common.retry_waits import backoff

__all__ = ["BUSY", "PATIENCE", "AdaptiveLimiter", "AdaptiveLimiters", "RateLimiter", "RateLimiters"]

BUSY = frozenset({429, 529})
"""The HTTP statuses of a request that is refused only because there are too many."""

PATIENCE = 120.0
"""Seconds without one answered request after which a refused one is not sent again."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_SPARE = 1.25
_FASTER = 0.98
_NO_INTERVAL = 0.001


class RateLimiter(Protocol):
    """Admits the requests to one account, whoever sends them: one process, or many that share it."""

    async def admit(self) -> None:
        """Wait until the next request may be sent."""
        ...

    async def answered(self) -> None:
        """A request was answered: more may be sent."""
        ...

    async def refused(self, asked: float | None) -> bool:
        """A request was refused because there are too many; the provider ``asked`` to wait so many seconds,
        if it said so. Returns whether to send it again, once it is admitted."""
        ...


class RateLimiters(Protocol):
    """The limiter of each account."""

    def of(self, account: str, provider: str) -> RateLimiter:
        """The limiter of ``account``, the hash of an address and a key, at the ``provider`` of that name."""
        ...


class AdaptiveLimiter:
    """A limiter for one process. Nothing is limited until a request is refused. All requests then pause, as
    long as the provider asks, and go on at the pace at which they were answered; it rises with each answer.

    ``on_slower`` is told the requests a second from then on.
    """

    def __init__(
        self,
        *,
        patience: float = PATIENCE,
        on_slower: Callable[[float], None] = lambda rate: None,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._patience = patience
        self._on_slower = on_slower
        self._clock = clock
        self._sleep = sleep
        self._interval = 0.0
        self._next = -math.inf
        self._paused_until = -math.inf
        self._counting_since = math.nan
        self._count = 0
        self._last_answer = math.nan
        self._refusals = 0

    async def admit(self) -> None:
        """Wait until the next request may be sent: ``1 / rate`` after the one before, after any pause."""
        now = self._clock()
        if math.isnan(self._last_answer):
            self._last_answer = self._counting_since = now
        while True:
            start = max(now, self._next)
            self._next = start + self._interval
            if start <= now:
                return
            await self._sleep(start - now)
            now = self._clock()
            if now >= self._paused_until:
                return

    async def answered(self) -> None:
        """A request was answered: the pace rises a little."""
        self._last_answer = self._clock()
        self._count += 1
        self._refusals = 0
        self._interval *= _FASTER
        if self._interval < _NO_INTERVAL:
            self._interval = 0.0

    async def refused(self, asked: float | None) -> bool:
        """Pause all requests; whether this one is sent again: not where nothing was answered for long."""
        now = self._clock()
        pause = asked or backoff(_FIRST_PAUSE, self._refusals + 1, _LONGEST_PAUSE)
        if now + pause - self._last_answer > self._patience:
            return False
        if now >= self._paused_until:
            self._refusals += 1
            self._slow_down(now, pause)
        self._paused_until = max(self._paused_until, now + pause)
        self._next = max(self._next, self._paused_until)
        return True

    def _slow_down(self, now: float, pause: float) -> None:
        """Go on a quarter slower than requests were answered since the last refusal, pauses included."""
        measured = (now - self._counting_since) / max(self._count, 1) * _SPARE
        self._interval = min(max(self._interval, measured), _LONGEST_PAUSE)
        self._counting_since, self._count = now, 0
        self._on_slower(1 / max(self._interval, pause / 1000, _NO_INTERVAL))


class AdaptiveLimiters:
    """A limiter for each account, for one process. ``on_slower`` is told the provider's name, and the
    requests a second from then on, when a limiter holds back for the first time."""

    def __init__(self, on_slower: Callable[[str, float], None] = lambda provider, rate: None) -> None:
        self._on_slower = on_slower
        self._limiters: dict[str, AdaptiveLimiter] = {}
        self._told: set[str] = set()

    def of(self, account: str, provider: str) -> RateLimiter:
        """The limiter of ``account``, always the same."""

        def slower(rate: float) -> None:
            if account not in self._told:
                self._told.add(account)
                self._on_slower(provider, rate)

        if account not in self._limiters:
            self._limiters[account] = AdaptiveLimiter(on_slower=slower)
        return self._limiters[account]
