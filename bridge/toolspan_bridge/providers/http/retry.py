"""How often and after how long a request is retried; a format's ``parse_error`` decides whether it is."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from toolspan_server.common.retry_waits import backoff

log = logging.getLogger("toolspan.providers")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``retries`` more attempts, ``first`` · 2ⁿ seconds apart, at most ``cap``, less up to ``jitter``.

    A wait that the provider names is obeyed up to ``longest`` seconds, if that much is left of the time for
    all attempts; otherwise there is no further attempt, since an earlier one would fail. Waits of half a
    minute and more are usual: Gemini's free tier asks for up to a minute.
    """

    retries: int = 2
    first: float = 0.5
    cap: float = 8.0
    jitter: float = 0.25
    longest: float = 120.0

    def backoff(self, attempt: int, dice: float) -> float:
        """Seconds to wait after failed attempt number ``attempt`` (from 1); ``dice`` is from 0 to 1."""
        return backoff(self.first, attempt, self.cap) * (1 - self.jitter * dice)


class Attempts:
    """The attempts of one request to ``provider``: they share ``total`` seconds. ``number`` counts from 1."""

    def __init__(
        self,
        provider: str,
        policy: RetryPolicy,
        total: float,
        sleep: Callable[[float], Awaitable[None]],
        dice: Callable[[], float],
    ) -> None:
        self.number = 1
        self._provider = provider
        self._policy = policy
        self._until = anyio.current_time() + total
        self._sleep = sleep
        self._dice = dice

    @property
    def left(self) -> float:
        """The remaining seconds for all attempts, at least 0."""
        return max(0.0, self._until - anyio.current_time())

    async def again(self, reason: str, asked: float | None = None) -> bool:
        """Wait for a further attempt, ``asked`` seconds if the provider named a wait; returns whether one is
        left.
        """
        wait = asked or self._policy.backoff(self.number, self._dice())
        if self.number > self._policy.retries or (asked or 0.0) > self._policy.longest or wait > self.left:
            return False
        self.number += 1
        log.info("%s: %s; attempt %d in %.1f s", self._provider, reason, self.number, wait)
        await self._sleep(wait)
        return True
