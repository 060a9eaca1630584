"""How often and after how long a request is retried; a format's ``parse_error`` decides whether it is."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

import anyio

from toolspan_server.common.retry_waits import backoff

from ...errors import UnreachableError
from ...messages.metering import Meter
from .rate_limits import RateLimiter

log = logging.getLogger("toolspan.providers")

LONG_WAIT_S = 5.0
"""Waits from here on are told as warnings, so that nobody sits before a silent program."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``retries`` more attempts, ``first`` · 2ⁿ seconds apart, at most ``cap``, less up to ``jitter``.

    A wait that the provider names is obeyed as long as the caller's time allows it; if it is longer, there is
    no further attempt, since an earlier one would fail.
    """

    retries: int = 2
    first: float = 0.5
    cap: float = 8.0
    jitter: float = 0.25

    def backoff(self, attempt: int, dice: float) -> float:
        """Seconds to wait after failed attempt number ``attempt`` (from 1); ``dice`` is from 0 to 1."""
        return backoff(self.first, attempt, self.cap) * (1 - self.jitter * dice)


@dataclass(frozen=True, slots=True)
class RetryWait:
    """The pause of ``seconds`` before attempt number ``attempt`` at ``provider``, and why there is one."""

    provider: str
    reason: str
    attempt: int
    seconds: float


on_retry: ContextVar[Callable[[RetryWait], AbstractContextManager[None]] | None] = ContextVar(
    "on_retry", default=None
)
"""Enters a context for each pause; where it is set, pauses are logged at level INFO only."""


while_held_back: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar(
    "while_held_back", default=None
)
"""Enters a context for each wait until a limiter admits a request: its time is no work of the provider."""


class Attempts:
    """The attempts of one request to ``provider``: they share ``total`` seconds, without the waits for
    ``limiter``. ``number`` counts from 1; what ``limiter`` holds back after a refusal is the same attempt.
    ``meter`` follows each; ``most_output`` is the limit of the answer's tokens that the body tells."""

    def __init__(
        self,
        provider: str,
        policy: RetryPolicy,
        total: float,
        sleep: Callable[[float], Awaitable[None]],
        dice: Callable[[], float],
        limiter: RateLimiter | None = None,
        meter: Meter | None = None,
        most_output: int | None = None,
    ) -> None:
        self.number = 1
        self._meter = meter
        self._most_output = most_output
        self._provider = provider
        self._policy = policy
        self._until = anyio.current_time() + total
        self._sleep = sleep
        self._dice = dice
        self._limiter = limiter

    @property
    def left(self) -> float:
        """The remaining seconds for all attempts, at least 0."""
        return max(0.0, self._until - anyio.current_time())

    async def sends(self, body: bytes) -> None:
        """Tell the meter that ``body`` is sent now. Raises what it raises."""
        if self._meter is not None:
            await self._meter.sends(body, self._most_output)

    def cost_nothing(self) -> None:
        """Tell the meter that the attempt was refused, or not sent."""
        if self._meter is not None:
            self._meter.cost_nothing()

    async def admit(self) -> None:
        """Wait until the next attempt may be made, where there is a limiter."""
        if self._limiter is None:
            return
        began, held_back = anyio.current_time(), while_held_back.get()
        with held_back() if held_back else nullcontext():
            await self._limiter.admit()
        self._until += anyio.current_time() - began

    async def answered(self) -> None:
        """Tell the limiter that the attempt was answered, and not refused for being one too many."""
        if self._limiter is not None:
            await self._limiter.answered()

    async def again(self, reason: str, asked: float | None = None, *, busy: bool = False) -> bool:
        """Wait for a further attempt, ``asked`` seconds if the provider named a wait; returns whether one is
        left. ``busy``: there were too many requests; where there is a limiter, it decides.

        Raises ``UnreachableError`` when the limiter gives up.
        """
        if busy and self._limiter is not None:
            if await self._limiter.refused(asked):
                return True
            wanted = f" and asks to wait {asked:g} s" if asked else ""
            raise UnreachableError(
                f"{self._provider} takes no more requests: it {reason}{wanted}, and nothing else for long",
                was_sent=False,
            )
        wait = asked or self._policy.backoff(self.number, self._dice())
        callers = anyio.current_effective_deadline() - anyio.current_time()
        if self.number > self._policy.retries or wait > min(self.left, callers):
            return False
        self.number += 1
        told = on_retry.get()
        level = logging.WARNING if wait >= LONG_WAIT_S and told is None else logging.INFO
        log.log(level, "%s: %s; attempt %d in %.1f s", self._provider, reason, self.number, wait)
        with told(RetryWait(self._provider, reason, self.number, wait)) if told else nullcontext():
            await self._sleep(wait)
        return True
