"""Tasks that start at once: most work ends before it first waits, and needs no task of its own.

Without them a call over HTTP costs 1.05 times as much processor time (``benchmarks/shortcuts.py``).
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task as enter_task  # pyright: ignore[reportPrivateUsage]
from asyncio.tasks import _leave_task as leave_task  # pyright: ignore[reportPrivateUsage]
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any

from .running import Continuation


class EagerTasks:
    """Starts coroutines immediately, like the eager tasks of Python 3.12.

    They run in the name of a spare task, which then goes on with the first of them that has to wait: for the
    work it has always been its task. Each runs in a copy of the context, as a task does. (``_enter_task`` and
    ``_leave_task`` are documented, for those who make tasks themselves: Python's asyncio, "Extending".)
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._spare = _Spare(self._loop)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """The task that continues ``work``; ``None`` when that is done already.

        Inside another task, and before the next spare one is there, ``work`` begins a little later.
        """
        spare, loop = self._spare, self._loop
        if not spare.is_ready or asyncio.current_task(loop) is not None:
            self._renew()
            return loop.create_task(work)
        context = copy_context()
        enter_task(loop, spare.task)
        try:
            waits_for = context.run(work.send, None)
        except StopIteration:
            return None
        except BaseException as error:
            return loop.create_task(_raised(error))
        finally:
            leave_task(loop, spare.task)
        spare.go_on(Continuation(work, waits_for, context))
        return spare.task

    def _renew(self) -> None:
        if self._spare.is_over:
            self._spare = _Spare(self._loop)


class _Spare:
    """A task that waits for work that has begun."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._rest: Continuation[None] | None = None
        self._given: asyncio.Future[None] = loop.create_future()
        self._waits = False
        self.task = loop.create_task(self._run())

    @property
    def is_ready(self) -> bool:
        return self._waits and not self._given.done()

    @property
    def is_over(self) -> bool:
        return self._given.done()

    def go_on(self, rest: Continuation[None]) -> None:
        self._rest = rest
        if not self._given.done():  # else it has cancelled itself
            self._given.set_result(None)

    async def _run(self) -> None:
        self._waits = True
        try:
            await self._given
        except asyncio.CancelledError:
            if self._rest is None:
                raise
            self._rest.cancel()
        if self._rest is not None:
            await self._rest


async def _raised(error: BaseException) -> None:
    raise error
