"""The running calls of a server, and the queue of those that wait for a slot."""

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
    """As many calls run and wait as the limits allow. The message names the limits."""


class WaitForClient(Protocol):
    """Awaits ``work``, which waits for the client, without holding a slot of the running calls."""

    async def __call__(self, work: Callable[[], Awaitable[T]], /) -> T: ...


class Calls:
    """Runs calls, at most ``at_once`` at the same time; at most ``waiting`` more are queued.

    ``finished`` lets the shutdown of the server wait for them; ``refused`` counts calls that found the queue
    full. ``asking`` limits those that wait for a person.
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
        """The number of running calls."""
        return self._running

    @property
    def has_room(self) -> bool:
        """Whether a call would run without queueing."""
        return self._running < self._at_once

    @property
    def waiting(self) -> int:
        """The number of queued calls."""
        return len(self._line)

    async def run(self, work: Callable[[], Awaitable[T]], timeout_ms: int | None = None) -> T:
        """The result of ``work``, run once a slot is free. Raises ``Busy`` when the queue is full.

        After ``timeout_ms`` in the queue ``work`` is run without a slot, to report the timeout: it sees that
        in ``WAITED``.
        """
        if not self.has_room:
            return await self._run_later(work, timeout_ms)
        self._running += 1
        try:
            return await work()
        finally:
            self._left()

    async def wait_for_client(self, work: Callable[[], Awaitable[T]], /, *, of: str | None = None) -> T:
        """The result of ``work``, for which a running call of the principal ``of`` waits for a person.

        Its slot is free meanwhile. Afterwards the call goes on without queueing: for a while more than
        ``at_once`` may run. Raises ``ToolFailure`` when too many wait already.
        """
        with self._asking.one(of), away(self):
            return await work()

    async def wait_without_slot(self, work: Callable[[], Awaitable[T]], /, *, of: str | None = None) -> T:
        """``wait_for_client`` for work that holds no slot."""
        with self._asking.one(of):
            return await work()

    def leave(self) -> None:
        """Free the slot of a running call that only waits from now on."""
        self._left()

    def enter(self) -> None:
        """Resume a call that had left, even if that exceeds ``at_once`` for a while."""
        self._running += 1

    async def ready(self) -> None:
        """Return at once: the caller always reads results."""

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
