"""The calls that run right now, and those that wait for their turn."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import anyio

T = TypeVar("T")


class Busy(Exception):
    """As many calls run and wait as the limits allow. The message says so, and names the limits."""


class Aside(Protocol):
    """Waits for what ``work`` gives, in the way of a call that others need not wait for meanwhile."""

    async def __call__(self, work: Callable[[], Awaitable[T]], /) -> T: ...


async def waiting(work: Callable[[], Awaitable[T]], /) -> T:
    """``Aside`` of what takes no place among the calls that run."""
    return await work()


class Calls:
    """Runs calls, at most ``at_once`` at the same time; at most ``waiting`` more wait in line.

    It knows when none is left, so that the end of the server can wait for them; ``refused`` counts those
    for which there was no place.
    """

    def __init__(self, at_once: int = 16, waiting: int = 1_000) -> None:
        self._at_once = at_once
        self._waiting = waiting
        self._running = 0
        self.refused = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._none = anyio.Event()

    @property
    def running(self) -> int:
        """How many run now."""
        return self._running

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._line)

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """What ``work`` gives, once it is its turn. Raises ``Busy`` when the line is full."""
        if self._running < self._at_once:
            self._running += 1
        else:
            await self._turn()
        try:
            return await work()
        finally:
            self._left()

    async def aside(self, work: Callable[[], Awaitable[T]], /) -> T:
        """What ``work`` gives to a call that runs and waits for a person: another runs in its place.

        Afterwards the call goes on at once: for a while there may be more than ``at_once``.
        """
        self._left()
        try:
            return await work()
        finally:
            self._running += 1

    async def finished(self, seconds: float) -> None:
        """Return when no call runs or waits, after ``seconds`` at the latest."""
        with anyio.move_on_after(seconds):
            while self._running:
                self._none = anyio.Event()
                await self._none.wait()

    async def _turn(self) -> None:
        """Wait in line; the place of a call that left is handed on to the first that waits."""
        if len(self._line) >= self._waiting:
            self.refused += 1
            raise Busy(
                f"The server is busy: {self._at_once} calls run and {self._waiting} wait "
                "(limits.concurrent_calls, limits.queued_calls); try again later"
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._left()
            elif turn in self._line:
                self._line.remove(turn)
            raise

    def _left(self) -> None:
        while self._line and self._running <= self._at_once:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._running -= 1
        if not self._running:
            self._none.set()
