"""The calls that run right now, and those that wait for their turn."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import anyio

from ...calls.slots import WAITED, away
from .waiting_calls import WaitingCalls

T = TypeVar("T")


class Busy(Exception):
    """As many calls run and wait as the limits allow. The message says so, and names the limits."""


class Aside(Protocol):
    """Waits for what ``work`` gives, in the way of a call that others need not wait for meanwhile."""

    async def __call__(self, work: Callable[[], Awaitable[T]], /) -> T: ...


class Calls:
    """Runs calls, at most ``at_once`` at the same time; at most ``waiting`` more wait in line.

    It knows when none is left, so that the end of the server can wait for them; ``refused`` counts those
    for which there was no place. ``asking`` bounds those that wait for a person.
    """

    refuses = True

    def __init__(self, at_once: int = 16, waiting: int = 1_000, asking: WaitingCalls | None = None) -> None:
        self._at_once = at_once
        self._waiting = waiting
        self._asking = asking or WaitingCalls()
        self._running = 0
        self.refused = 0
        self._line: deque[asyncio.Future[bool]] = deque()
        self._none: anyio.Event | None = None

    @property
    def running(self) -> int:
        """How many run now."""
        return self._running

    @property
    def has_room(self) -> bool:
        """Whether a call would run at once."""
        return self._running < self._at_once

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._line)

    async def run(self, work: Callable[[], Awaitable[T]], timeout_ms: int | None = None) -> T:
        """What ``work`` gives, once it is its turn. Raises ``Busy`` when the line is full.

        After ``timeout_ms`` in line it is let through to say so, without a place: ``WAITED`` tells it.
        """
        if not self.has_room:
            return await self._run_later(work, timeout_ms)
        self._running += 1
        try:
            return await work()
        finally:
            self._left()

    async def aside(self, work: Callable[[], Awaitable[T]], /, *, of: str | None = None) -> T:
        """What ``work`` gives to a call, of the principal ``of``, that runs and waits for a person.

        Another runs in its place. Afterwards the call goes on at once: for a while there may be more than
        ``at_once``. Raises ``ToolFailure`` when too many wait already.
        """
        with self._asking.one(of), away(self):
            return await work()

    async def beside(self, work: Callable[[], Awaitable[T]], /, *, of: str | None = None) -> T:
        """``aside`` of what has no place among the calls that run."""
        with self._asking.one(of):
            return await work()

    def leave(self) -> None:
        """A call that runs only waits from now on: another runs in its place."""
        self._left()

    def enter(self) -> None:
        """A call that had left goes on, also when that makes more than ``at_once``."""
        self._running += 1

    async def ready(self) -> None:
        """Whoever called always takes answers."""

    async def finished(self, seconds: float) -> None:
        """Return when no call runs or waits, after ``seconds`` at the latest."""
        with anyio.move_on_after(seconds):
            while self._running:
                self._none = anyio.Event()
                await self._none.wait()

    async def _run_later(self, work: Callable[[], Awaitable[T]], timeout_ms: int | None) -> T:
        loop = asyncio.get_running_loop()
        began = loop.time()
        in_time = await self._turn(timeout_ms)
        waited = WAITED.set(loop.time() - began if in_time else math.inf)
        try:
            return await work()
        finally:
            WAITED.reset(waited)
            if in_time:
                self._left()

    async def _turn(self, timeout_ms: int | None) -> bool:
        """Wait in line; the place of a call that left is handed on to the first that waits.

        False when the time is over before.
        """
        if len(self._line) >= self._waiting:
            self.refused += 1
            raise Busy(
                f"The server is busy: {self._at_once} calls run and {self._waiting} wait "
                "(limits.concurrent_calls, limits.queued_calls); try again later"
            )
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[bool] = loop.create_future()
        self._line.append(turn)
        timer = None if timeout_ms is None else loop.call_later(timeout_ms / 1000, self._expire, turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._drop(turn)
            elif turn.result():
                self._left()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def _expire(self, turn: asyncio.Future[bool]) -> None:
        if not turn.done():
            self._drop(turn)
            turn.set_result(False)

    def _drop(self, turn: asyncio.Future[bool]) -> None:
        if turn in self._line:
            self._line.remove(turn)

    def _left(self) -> None:
        while self._line and self._running <= self._at_once:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(True)
                return
        self._running -= 1
        if not self._running and self._none is not None:
            self._none.set()
