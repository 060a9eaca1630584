"""Work that is run at once as far as it goes, and can be ended from its first wait on."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from toolspan_server.common.running import Running, WorkEnded

pytestmark = pytest.mark.anyio


async def test_work_that_never_waits_is_done_at_once() -> None:
    async def work() -> int:
        return 5

    running = Running(work())
    assert (running.done, running.result) == (True, 5)


async def test_what_work_raises_before_its_first_wait_is_raised_at_once() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        Running(work())


async def test_work_that_waits_goes_on_where_it_was() -> None:
    opened = asyncio.Event()

    async def work() -> list[str]:
        seen = ["before"]
        await opened.wait()
        await asyncio.sleep(0)
        return [*seen, "after"]

    running = Running(work())
    assert not running.done
    asyncio.get_running_loop().call_soon(opened.set)
    assert await running.finished() == ["before", "after"]


async def test_what_work_raises_later_is_raised_where_it_is_waited_for() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    with pytest.raises(KeyError):
        await Running(work()).finished()


async def test_stopped_work_is_cancelled_and_says_why() -> None:
    cleaned = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append(True)

    running = Running(work())
    asyncio.get_running_loop().call_soon(running.stop, "enough")
    with pytest.raises(WorkEnded) as ended:
        await running.finished()
    assert (ended.value.why, cleaned) == ("enough", [True])
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


async def test_only_the_first_reason_counts_and_work_that_goes_on_is_cancelled_again() -> None:
    async def stubborn() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(60)

    running = Running(stubborn())
    loop = asyncio.get_running_loop()
    loop.call_soon(running.stop, "first")
    loop.call_later(0.01, running.stop, "second")
    with pytest.raises(WorkEnded, match="first"):
        await running.finished()
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


@pytest.mark.parametrize("ending", ["a result", "an error"])
async def test_work_that_ends_in_its_own_way_leaves_the_task_uncancelled(ending: str) -> None:
    async def work() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if ending == "an error":
                raise KeyError("x") from None
        return "done all the same"

    running = Running(work())
    asyncio.get_running_loop().call_soon(running.stop, "enough")
    if ending == "an error":
        with pytest.raises(KeyError):
            await running.finished()
    else:
        assert await running.finished() == "done all the same"
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


async def test_a_cancellation_from_further_out_is_not_taken_for_a_stop() -> None:
    outcome = []

    async def waiting() -> None:
        running = Running(asyncio.sleep(60))
        try:
            await running.finished()
        except asyncio.CancelledError:
            outcome.append("cancelled")
            raise

    task = asyncio.create_task(waiting())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert outcome == ["cancelled"]


async def test_a_stop_inside_a_cancelled_scope_leaves_the_scope_its_cancellation() -> None:
    with anyio.CancelScope() as scope:
        running = Running(asyncio.sleep(60))
        loop = asyncio.get_running_loop()
        loop.call_soon(running.stop, "enough")
        loop.call_soon(scope.cancel)
        with pytest.raises(WorkEnded):
            await running.finished()
        await anyio.sleep(60)
    assert scope.cancelled_caught
