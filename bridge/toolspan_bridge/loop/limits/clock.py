"""The time that a question takes, without the time in which a person is asked."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from typing import TypeVar

import anyio

_T = TypeVar("_T")


class TimeUp(Exception):
    """The time was up before the work was done; it was cancelled."""


class Clock:
    """Runs from its making on; ``seconds`` is the time that there is, ``None`` for any."""

    def __init__(self, seconds: float | None = None) -> None:
        self._began = anyio.current_time()
        self._seconds = math.inf if seconds is None else seconds
        self._waited = 0.0
        self._waits: list[float] = []
        self._scope: anyio.CancelScope | None = None

    @property
    def is_limited(self) -> bool:
        """Whether there is an end."""
        return self._seconds < math.inf

    @property
    def elapsed(self) -> float:
        """The seconds until now."""
        waits = anyio.current_time() - self._waits[0] if self._waits else 0.0
        return max(0.0, anyio.current_time() - self._began - self._waited - waits)

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.elapsed >= self._seconds

    def limit(self, seconds: float | None) -> None:
        """Let the time that there is be ``seconds`` from its making on."""
        self._seconds = math.inf if seconds is None else seconds
        self._set()

    @contextmanager
    def running(self) -> Generator[anyio.CancelScope]:
        """Cancel the block when the time is up; one such block at a time."""
        with anyio.CancelScope(deadline=self._deadline()) as scope:
            self._scope = scope
            try:
                yield scope
            finally:
                self._scope = None

    @contextmanager
    def stopped(self) -> Generator[None]:
        """The time of the block does not count: a person is asked in it."""
        self._waits.append(anyio.current_time())
        self._set()
        try:
            yield
        finally:
            if len(self._waits) == 1:
                self._waited += anyio.current_time() - self._waits[0]
            del self._waits[-1]
            self._set()

    def _set(self) -> None:
        if self._scope is not None:
            self._scope.deadline = self._deadline()

    def _deadline(self) -> float:
        return math.inf if self._waits else self._began + self._waited + self._seconds


async def timed(source: AsyncGenerator[_T], clock: Clock) -> AsyncGenerator[_T]:
    """The items of ``source``; raises ``TimeUp`` when the clock's time is up before it ends."""
    if not clock.is_limited:
        async with aclosing(source):
            async for item in source:
                yield item
        return
    send, receive = anyio.create_memory_object_stream[_T](math.inf)
    faults: list[Exception] = []

    async def pump() -> None:
        with send, clock.running() as scope:
            try:
                async with aclosing(source):
                    async for item in source:
                        send.send_nowait(item)
            except Exception as fault:
                faults.append(fault)
        if scope.cancelled_caught:
            faults.append(TimeUp())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump)
        try:
            async with receive:
                async for item in receive:
                    yield item
        except GeneratorExit:  # not passed on: the task group would wrap it
            tasks.cancel_scope.cancel()
    if faults:
        raise faults[0]
