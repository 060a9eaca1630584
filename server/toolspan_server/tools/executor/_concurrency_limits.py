"""Limits on concurrent calls per dependency: a dependency that hangs delays only the calls that use it."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from ...errors import ToolFailure
from ...parts.kind import KindConfig

_ACTION = "Try again later, or raise the named limits in the config; a tool's timeout_ms ends what hangs."


@dataclass(frozen=True, slots=True)
class ConcurrencyLimits:
    """How many calls of one target and of one kind may run at once, and how many more may queue for it."""

    per_target: int = 12
    per_kind: int = 14
    queued: int = 200


class ConcurrencyLimiter:
    """Runs at most ``at_once`` calls that depend on ``what``; at most ``waiting`` more queue, in order.

    ``limit`` is the config key that ``at_once`` comes from.
    """

    def __init__(self, what: str, at_once: int, waiting: int, limit: str) -> None:
        self._what = what
        self._at_once = at_once
        self._waiting = waiting
        self._limit = limit
        self._running = 0
        self._line: deque[asyncio.Future[None]] = deque()

    def take(self) -> bool:
        """Take a slot if one is free; returns whether it did."""
        if self._running >= self._at_once or self._line:
            return False
        self._running += 1
        return True

    async def turn(self, *, refuses: bool = True) -> None:
        """Queue for a slot. With ``refuses``, raises ``ToolFailure`` when the queue is full."""
        if refuses and len(self._line) >= self._waiting:
            raise ToolFailure(
                f"Too many calls of {self._what}: {self._at_once} run and {self._waiting} wait "
                f"({self._limit}, limits.queued_calls_per_target)",
                error_code="busy",
                user_action=_ACTION,
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave()
            elif turn in self._line:
                self._line.remove(turn)
            raise

    def enter(self) -> None:
        """Resume a call that had left, even if that exceeds ``at_once`` for a while."""
        self._running += 1

    def leave(self) -> None:
        """Free a slot, for the first call in the queue."""
        self._running -= 1
        while self._line and self._running < self._at_once:
            turn = self._line.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def timed_out(self, timeout_ms: int) -> ToolFailure:
        """The failure of a call whose timeout ends while it is queued."""
        return ToolFailure(
            f"Tool execution timed out after {timeout_ms}ms: it waited for its turn among the calls of "
            f"{self._what}, {self._at_once} of which may run at once ({self._limit})",
            error_code="timeout",
            user_action=_ACTION,
        )


class ConcurrencyLimiters:
    """The concurrency limiters of a server, one for each target and each kind."""

    def __init__(self, limits: ConcurrencyLimits) -> None:
        self._limits = limits
        self._limiters: dict[str, ConcurrencyLimiter] = {}

    def of(self, implementation: KindConfig) -> tuple[ConcurrencyLimiter, ...]:
        """The limiters of a call of such a tool, the narrowest first; none when its kind cannot hang."""
        target = implementation.target()
        if target is None:
            return ()
        limits = self._limits
        return (
            self._limiter(target, limits.per_target, "limits.concurrent_calls_per_target"),
            self._limiter(
                f"kind {implementation.type!r}", limits.per_kind, "limits.concurrent_calls_per_kind"
            ),
        )

    def _limiter(self, what: str, at_once: int, limit: str) -> ConcurrencyLimiter:
        if what not in self._limiters:
            self._limiters[what] = ConcurrencyLimiter(what, at_once, self._limits.queued, limit)
        return self._limiters[what]
