"""Tasks that begin at once are tasks like any other to the work in them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from toolspan_server.common.eager_tasks import EagerTasks

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I9.4.1", "I9.4.2")]
_word: ContextVar[str] = ContextVar("_word", default="none")


class Starts:
    """Starts works from callbacks of the loop, as a connection does."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tasks = EagerTasks()

    def start_here(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """What ``work`` is given, begun inside the current task."""
        return self._tasks.start(work)

    async def ready(self) -> None:
        """Wait until a task is there for the next work."""
        await asyncio.sleep(0)

    async def start_and_cancel(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """The task of ``work``, cancelled before it went on."""
        begun: asyncio.Future[asyncio.Task[None]] = self._loop.create_future()

        def start() -> None:
            task = waiting(self._tasks.start(work))
            task.cancel()
            begun.set_result(task)

        self._loop.call_soon(start)
        return await begun

    async def start(self, *works: Coroutine[Any, Any, None]) -> list[asyncio.Task[None] | None]:
        """What each of ``works`` is given, begun one after the other in one turn of the loop."""
        begun: asyncio.Future[list[asyncio.Task[None] | None]] = self._loop.create_future()
        self._loop.call_soon(lambda: begun.set_result([self._tasks.start(work) for work in works]))
        return await begun


@pytest.fixture
async def starts() -> Starts:
    starts = Starts()
    await starts.ready()
    return starts


def waiting(task: asyncio.Task[None] | None) -> asyncio.Task[None]:
    assert task is not None
    return task


async def test_work_that_never_waits_is_done_in_some_task_but_needs_none(starts: Starts) -> None:
    seen: list[object] = []

    async def work() -> None:
        seen.append(asyncio.current_task())

    assert await starts.start(work(), work(), work()) == [None, None, None]
    assert len(seen) == 3 and None not in seen


async def test_work_that_waits_goes_on_in_the_task_that_it_began_in(starts: Starts) -> None:
    seen: list[object] = []

    async def work() -> None:
        for _ in range(3):
            seen.append(asyncio.current_task())
            await asyncio.sleep(0)

    tasks = await starts.start(work())
    await waiting(tasks[0])
    assert seen == tasks * 3


async def test_each_that_waits_has_a_task_of_its_own(starts: Starts) -> None:
    opened = asyncio.Event()
    seen: list[object] = []

    async def work() -> None:
        await opened.wait()
        seen.append(asyncio.current_task())

    tasks = [task for _ in range(3) for task in await starts.start(work(), work())]
    assert len(set(tasks)) == 6
    opened.set()
    await asyncio.gather(*map(waiting, tasks))
    assert set(seen) == set(tasks)


async def test_what_work_puts_into_its_context_stays_there(starts: Starts) -> None:
    seen: list[str] = []

    async def work(word: str, *, waits: bool) -> None:
        seen.append(_word.get())
        _word.set(word)
        if waits:
            await asyncio.sleep(0)
            seen.append(_word.get())

    await starts.start(work("a", waits=False))
    tasks = await starts.start(work("b", waits=True))
    await waiting(tasks[0])
    await starts.ready()
    await starts.start(work("c", waits=False))
    assert seen == ["none", "none", "b", "none"]
    assert _word.get() == "none"


@pytest.mark.parametrize("turns", range(4))
async def test_cancelling_reaches_what_the_work_waits_for(starts: Starts, turns: int) -> None:
    reached: list[str] = []

    async def inner() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            reached.append("inner")
            raise

    async def work() -> None:
        task = asyncio.ensure_future(inner())
        await asyncio.sleep(0)
        try:
            await task
        finally:
            assert task.cancelled()
            reached.append("work")

    task = waiting((await starts.start(work()))[0])
    for _ in range(turns + 2):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reached == ["inner", "work"]


async def test_cancelling_right_after_the_start_reaches_the_work(starts: Starts) -> None:
    cleaned: list[str] = []

    async def work(waited: asyncio.Future[None] | None) -> None:
        try:
            await (asyncio.sleep(0) if waited is None else waited)
        except asyncio.CancelledError:
            cleaned.append("future" if waited is not None and waited.cancelled() else "itself")
            raise

    for waited in (None, asyncio.get_running_loop().create_future()):
        await starts.ready()
        task = await starts.start_and_cancel(work(waited))
        await asyncio.wait([task])
        assert task.cancelled()
        await starts.start(asyncio.sleep(0))
    assert cleaned == ["itself", "future"]


async def test_a_time_limit_inside_the_work_holds(starts: Starts) -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        except TimeoutError:
            seen.append("asyncio")
        with anyio.move_on_after(0.01):
            await anyio.sleep(60)
            seen.append("never")
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep, 60)
            group.cancel_scope.cancel()
        seen.append("anyio")

    await waiting((await starts.start(work()))[0])
    assert seen == ["asyncio", "anyio"]


async def test_work_that_cancels_itself_and_does_not_wait_harms_no_other(starts: Starts) -> None:
    seen: list[object] = []

    async def cancels(*, waits: bool) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if waits:
            await asyncio.sleep(0)
            seen.append("never")

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        await asyncio.sleep(0)
        seen.append(task.cancelling())

    tasks = await starts.start(cancels(waits=False), work())
    await waiting(tasks[1])
    await starts.ready()
    await starts.start(work())
    await starts.ready()
    tasks = await starts.start(cancels(waits=True))
    await asyncio.wait([waiting(tasks[0])])
    assert waiting(tasks[0]).cancelled() and seen == [0, 0]


async def test_work_that_is_started_inside_a_task_begins_in_one_of_its_own(starts: Starts) -> None:
    seen: list[object] = []

    async def work() -> None:
        seen.append(asyncio.current_task())

    task = waiting(starts.start_here(work()))
    assert not seen
    await task
    assert seen == [task]


async def test_what_work_raises_before_its_first_wait_is_its_tasks_error(starts: Starts) -> None:
    async def work() -> None:
        raise KeyError("x")

    task = waiting((await starts.start(work()))[0])
    with pytest.raises(KeyError):
        await task
    assert await starts.start(anyio.lowlevel.cancel_shielded_checkpoint()) != [None]
