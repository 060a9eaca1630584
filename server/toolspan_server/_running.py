"""Work in progress: run at once as far as it goes, and from its first wait on endable from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Ended(Exception):
    """The work was ended from outside. ``why`` is what ``stop`` was told."""

    def __init__(self, why: object) -> None:
        super().__init__(str(why))
        self.why = why


class Running(Generic[T]):
    """Runs ``work`` in the current task up to its first wait; most work is ``done`` by then.

    When it is not, ``await running.finished()`` gives the result, and ``stop`` ends it.
    """

    __slots__ = ("_stops", "_task", "_waits_for", "_why", "_work", "done", "result")

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self.done = False
        self.result: T = cast("T", None)
        try:
            self._waits_for = work.send(None)
        except StopIteration as stop:
            self.done = True
            self.result = stop.value
            return
        self._work = work
        self._why: object = None
        self._stops = 0
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())

    def stop(self, why: object) -> None:
        """Cancel the work, again if it goes on; only the first reason counts."""
        if not self._stops:
            self._why = why
        self._stops += 1
        self._task.cancel()

    async def finished(self) -> T:
        """The result, once it is there. Raises ``Ended`` when ``stop`` ended the work."""
        try:
            self.result = await _Rest(self._work, self._waits_for)
        except asyncio.CancelledError:
            if not self._stops or self._taken_back():
                raise
            raise Ended(self._why) from None
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


class _Rest(Generic[T]):
    """What is left of a coroutine that waits for ``waits_for``."""

    __slots__ = ("_waits_for", "_work")

    def __init__(self, work: Coroutine[Any, Any, T], waits_for: Any) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, T]:
        work, waits_for = self._work, self._waits_for
        while True:
            thrown: BaseException | None = None
            sent: Any = None
            try:
                sent = yield waits_for
            except BaseException as error:  # for the coroutine, as if it had waited itself
                thrown = error
            try:
                waits_for = work.send(sent) if thrown is None else work.throw(thrown)
            except StopIteration as stop:
                return cast("T", stop.value)
