"""Shares of the calls that run: what hangs delays only the calls that depend on it."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from ...errors import ToolFailure
from ...parts.kind import KindConfig

_ACTION = "Try again later, or raise the named limits in the config; a tool's timeout_ms ends what hangs."


@dataclass(frozen=True, slots=True)
class ShareLimits:
    """How many calls may depend on one target and on one kind, and how many more may wait for one."""

    per_target: int = 8
    per_kind: int = 12
    queued: int = 200


class Share:
    """At most ``at_once`` calls that depend on ``what`` run; at most ``waiting`` more wait, in their order.

    ``limit`` is the name of the limit that ``at_once`` comes from.
    """

    def __init__(self, what: str, at_once: int, waiting: int, limit: str) -> None:
        self._what = what
        self._at_once = at_once
        self._waiting = waiting
        self._limit = limit
        self._running = 0
        self._line: deque[asyncio.Future[None]] = deque()

    def take(self) -> bool:
        """Whether there was room for a call, which has it then."""
        if self._running >= self._at_once or self._line:
            return False
        self._running += 1
        return True

    async def turn(self, *, refuses: bool = True) -> None:
        """Wait in line for room. Raises ``ToolFailure`` when too many wait, if it ``refuses`` then."""
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
        """Go on with a call that had left, also when that makes one more than may run."""
        self._running += 1

    def leave(self) -> None:
        """The room of a call is free, for the first that waits."""
        self._running -= 1
        while self._line and self._running < self._at_once:
            turn = self._line.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def timed_out(self, timeout_ms: int) -> ToolFailure:
        """What a call fails with whose time is over while it waits in line."""
        return ToolFailure(
            f"Tool execution timed out after {timeout_ms}ms: it waited for its turn among the calls of "
            f"{self._what}, {self._at_once} of which may run at once ({self._limit})",
            error_code="timeout",
            user_action=_ACTION,
        )


class Shares:
    """The shares of a server, by what depends on them."""

    def __init__(self, limits: ShareLimits) -> None:
        self._limits = limits
        self._shares: dict[str, Share] = {}

    def of(self, implementation: KindConfig) -> tuple[Share, ...]:
        """Those that a call of such a tool takes room in, the narrowest first; none when nothing can hang."""
        target = implementation.target()
        if target is None:
            return ()
        limits = self._limits
        return (
            self._share(target, limits.per_target, "limits.concurrent_calls_per_target"),
            self._share(f"kind {implementation.type!r}", limits.per_kind, "limits.concurrent_calls_per_kind"),
        )

    def _share(self, what: str, at_once: int, limit: str) -> Share:
        if what not in self._shares:
            self._shares[what] = Share(what, at_once, self._limits.queued, limit)
        return self._shares[what]
