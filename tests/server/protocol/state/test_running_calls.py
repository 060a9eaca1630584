"""How many calls run, how many wait, and what happens to the others."""

from __future__ import annotations

import math

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_server.calls.slots import WAITED
from toolspan_server.protocol.state.running_calls import Busy, Calls

pytestmark = pytest.mark.anyio


class Gate:
    """Work that waits until it is let go; ``running`` and ``most`` say how much of it ran at once."""

    def __init__(self) -> None:
        self.running = self.most = 0
        self.opened = anyio.Event()
        self.order: list[int] = []

    async def work(self, number: int = 0) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        self.order.append(number)
        try:
            await self.opened.wait()
        finally:
            self.running -= 1
        return number


async def test_calls_above_the_limit_wait_their_turn_in_order() -> None:
    calls, gate = Calls(at_once=2, waiting=10), Gate()
    results: list[int] = []

    async def one(number: int) -> None:
        results.append(await calls.run(lambda: gate.work(number)))

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(one, number)
            await anyio.wait_all_tasks_blocked()
        assert gate.running == 2
        gate.opened.set()
    assert (gate.most, gate.order, sorted(results)) == (2, list(range(6)), list(range(6)))


async def test_a_full_line_is_refused_by_the_names_of_its_limits() -> None:
    calls, gate = Calls(at_once=1, waiting=1), Gate()
    async with anyio.create_task_group() as group:
        group.start_soon(calls.run, gate.work)
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy, match=r"1 calls run and 1 wait \(limits\.concurrent_calls, limits\.queue"):
            await calls.run(gate.work)
        gate.opened.set()
    assert await calls.run(gate.work) == 0


async def test_a_call_that_fails_or_is_cancelled_leaves_its_place() -> None:
    calls, gate = Calls(at_once=1, waiting=1), Gate()

    async def failing() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await calls.run(failing)
    with anyio.move_on_after(0.01):
        await calls.run(gate.work)
    gate.opened.set()
    assert await calls.run(gate.work) == 0


async def test_one_that_gives_up_waiting_leaves_the_line() -> None:
    calls, gate = Calls(at_once=1, waiting=1), Gate()
    async with anyio.create_task_group() as group:
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.01):
            await calls.run(gate.work)
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        gate.opened.set()
    assert len(gate.order) == 2


async def test_a_turn_that_comes_to_a_call_just_given_up_is_passed_on() -> None:
    calls, gate = Calls(at_once=1, waiting=5), Gate()
    async with anyio.create_task_group() as group:
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        given_up = anyio.CancelScope()

        async def waiting() -> None:
            with given_up:
                await calls.run(gate.work)

        group.start_soon(waiting)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        gate.opened.set()
        given_up.cancel()
    with anyio.fail_after(BOUND_S):
        await calls.finished(60)
    assert await calls.run(gate.work) == 0


async def test_the_end_waits_for_the_calls_but_not_for_ever() -> None:
    calls, gate = Calls(), Gate()
    await calls.finished(60)
    async with anyio.create_task_group() as group:
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        await calls.finished(0.01)
        assert gate.running == 1
        group.start_soon(calls.finished, 60)
        gate.opened.set()


@pytest.mark.requirement("I9.1.1")
async def test_a_call_waits_in_line_for_no_longer_than_its_time_and_is_told_so() -> None:
    calls, gate = Calls(at_once=1, waiting=10), Gate()
    seen: list[float] = []

    async def late() -> None:
        seen.append(WAITED.get())

    async with anyio.create_task_group() as group:
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        await calls.run(late, 20)
        assert (seen, calls.waiting, calls.running) == ([math.inf], 0, 1)
        gate.opened.set()
    assert WAITED.get() == 0
    assert calls.running == 0
    await calls.run(late, 20)
    assert seen[1:] == [0]


@pytest.mark.requirement("I9.1.1")
async def test_what_a_call_waited_in_line_is_part_of_its_time() -> None:
    calls, gate = Calls(at_once=1, waiting=10), Gate()
    seen: list[float] = []

    async def waited() -> None:
        seen.append(WAITED.get())

    async with anyio.create_task_group() as group:
        group.start_soon(calls.run, gate.work)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(calls.run, waited, 60_000)
        await anyio.wait_all_tasks_blocked()
        gate.opened.set()
    assert 0 < seen[0] < 60
