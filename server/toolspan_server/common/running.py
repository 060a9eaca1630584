"""Runs work in the current task up to its first wait; from then on it can be ended from outside."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")

_log = logging.getLogger(__name__)
_alone: set[asyncio.Task[None]] = set()


class WorkEnded(Exception):
    """The work was ended from outside. ``why`` is the reason given to ``stop``."""

    def __init__(self, why: object) -> None:
        super().__init__(str(why))
        self.why = why


class Running(Generic[T]):
    """Runs ``work`` in the current task up to its first wait; most work is ``done`` by then.

    When it is not, ``await running.finished()`` gives the result, and ``stop`` ends it.
    """

    __slots__ = ("_rest", "_stops", "_task", "_why", "done", "result")

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self.done = False
        self.result: T = cast("T", None)
        # Driven by hand: a task would cost every call a turn of the event loop, and most never wait.
        try:
            waits_for = work.send(None)
        except StopIteration as stop:
            self.done = True
            self.result = stop.value
            return
        self._rest = Continuation(work, waits_for)
        self._why: object = None
        self._stops = 0
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())

    def stop(self, why: object) -> None:
        """Cancel the work, again if it goes on; only the first reason counts."""
        if not self._stops:
            self._why = why
        self._stops += 1
        self._task.cancel()

    def abandon(self, count: Callable[[int], None]) -> None:
        """Cancel it once more; work that ignores it continues in a task of its own.

        ``count`` is then called with 1, and with -1 at its end. What it began in the name
        of this task, such as its own time limits, it has no more.
        """
        self._rest.leave_to(count)
        self.stop(self._why)

    async def finished(self) -> T:
        """The result, once it is there. Raises ``WorkEnded`` when ``stop`` or ``abandon`` ended the wait."""
        try:
            self.result = await self._rest
        except asyncio.CancelledError:
            if not self._stops or self._taken_back():
                raise
            raise WorkEnded(self._why) from None
        except BaseException:
            self._taken_back()
            raise
        self._taken_back()
        return self.result

    def _taken_back(self) -> int:
        """Take back what ``stop`` did to the task; how many others want to cancel it."""
        others = 0
        for _ in range(self._stops):
            others = self._task.uncancel()
        return others


class Continuation(Generic[T]):
    """What is left of a coroutine that waits for ``waits_for``, to be awaited; in ``context`` if given."""

    __slots__ = ("_cancelled", "_count", "_send", "_throw", "_waits_for")

    def __init__(self, work: Coroutine[Any, Any, T], waits_for: Any, context: Context | None = None) -> None:
        self._waits_for = waits_for
        self._cancelled = False
        self._count: Callable[[int], None] | None = None
        self._send: Callable[[Any], Any] = work.send
        self._throw: Callable[[BaseException], Any] = work.throw
        if context is not None:
            self._send, self._throw = _within(context, work.send), _within(context, work.throw)

    def cancel(self) -> None:
        """Cancel what it waits for, or, where that is over, throw into it when it is awaited."""
        self._cancelled = self._waits_for is None or not self._waits_for.cancel()

    def leave_to(self, count: Callable[[int], None]) -> None:
        """When it is cancelled next and goes on, wait for it no more: it has a task of its own then.

        Whoever awaits this gets the ``CancelledError``; ``count`` is called with 1, and with -1 at its end.
        """
        self._count = count

    def __await__(self) -> Generator[Any, Any, T]:
        waits_for = self._waits_for
        thrown: BaseException | None = asyncio.CancelledError() if self._cancelled else None
        sent: Any = None
        while True:
            if thrown is None:
                try:
                    # The future goes up to the task, which waits for it as for one of its own.
                    sent = yield waits_for
                except BaseException as error:  # for the coroutine, as if it had waited itself
                    thrown = error
            try:
                waits_for = self._send(sent) if thrown is None else self._throw(thrown)
            except StopIteration as stop:
                return cast("T", stop.value)
            if self._count is not None and isinstance(thrown, asyncio.CancelledError):
                self._go_on_alone(waits_for, self._count)
                raise thrown
            sent = thrown = None

    def _go_on_alone(self, waits_for: Any, count: Callable[[int], None]) -> None:
        self._waits_for, self._cancelled, self._count = waits_for, False, None

        async def alone() -> None:
            try:
                await self
            except BaseException:
                _log.debug("abandoned work has ended", exc_info=True)
            finally:
                count(-1)

        count(1)
        task = asyncio.get_running_loop().create_task(alone())
        _alone.add(task)
        task.add_done_callback(_alone.discard)


def _within(context: Context, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: context.run(step, value)
