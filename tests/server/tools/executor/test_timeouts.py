"""Time-outs and cancellation, of handlers that await and of handlers that block."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.executors import builtin, executor_of
from tests.support.waiting import BOUND_S
from toolspan_server import Context, ToolFailure, handler
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.content import Content
from toolspan_server.tools.executor import ConcurrencyLimits, _clock
from toolspan_server.tools.kinds._blocking import MAX_ABANDONED, MAX_RUNNING

pytestmark = [pytest.mark.long, pytest.mark.anyio]
WIDE = ConcurrencyLimits(per_target=100, per_kind=100)


class Gate:
    """Lets the blocking handlers of one test go, and counts them."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.started = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)
        self.lock = threading.Lock()
        self.running = self.most_running = 0
        self.contexts: list[Context] = []
        self.async_cancelled = False
        self.redacted = 0
        self.results: list[weakref.ref[Rows]] = []


gate = Gate()


@pytest.fixture(autouse=True)
def _own_gate() -> Iterator[None]:
    global gate
    gate = Gate()
    yield
    gate.open.set()


@handler("timeouts.block")
def blocking(arguments: dict[str, Any], context: Context) -> str:
    mine = gate
    with mine.lock:
        mine.running += 1
        mine.most_running = max(mine.most_running, mine.running)
        mine.contexts.append(context)
    mine.started.release()
    try:
        assert mine.open.wait(BOUND_S)
    finally:
        with mine.lock:
            mine.running -= 1
        mine.ended.release()
    return "done"


@handler("timeouts.polite")
def polite(arguments: dict[str, Any], context: Context) -> None:
    gate.started.release()
    assert context.cancelled.wait(BOUND_S)
    try:
        context.raise_if_cancelled()
    finally:
        gate.ended.release()


@handler("timeouts.await")
async def awaiting(arguments: dict[str, Any], context: Context) -> None:
    gate.contexts.append(context)
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        gate.async_cancelled = True
        raise


async def acquired(semaphore: threading.Semaphore) -> None:
    assert await anyio.to_thread.run_sync(lambda: semaphore.acquire(timeout=BOUND_S))


@pytest.mark.requirement("I2.3.2", "I2.3.4")
@pytest.mark.parametrize("name", ["timeouts.await", "timeouts.block"])
async def test_a_call_that_takes_too_long_times_out_after_its_time(name: str) -> None:
    result = await executor_of(builtin(name, timeout_ms=50)).execute(name, None, LOCAL)
    assert (result.error, result.error_code) == ("Tool execution timed out after 50ms", "timeout")
    assert result.execution_time_ms >= 50
    assert gate.contexts[0].cancelled.is_set()


@pytest.mark.requirement("I2.3.4")
async def test_the_time_out_reaches_a_handler_that_awaits() -> None:
    await executor_of(builtin("timeouts.await", timeout_ms=20)).execute("timeouts.await", None, LOCAL)
    assert gate.async_cancelled


@pytest.mark.requirement("I2.3.4")
async def test_the_time_out_reaches_a_handler_that_blocks_and_looks() -> None:
    await executor_of(builtin("timeouts.polite", timeout_ms=20)).execute("timeouts.polite", None, LOCAL)
    await acquired(gate.ended)


class Rows(list[str]):
    """A large result whose end can be seen by a weak reference."""


def late(text: str) -> str:
    """Redacts nothing; where it does not hold the event loop, not before the gate is open."""
    if threading.current_thread() is not threading.main_thread():
        gate.redacted += 1
        assert gate.open.wait(BOUND_S)
    return text


@handler("timeouts.rows")
async def rows(arguments: dict[str, Any], context: Context) -> Any:
    result = Rows(str(number) for number in range(100_000))
    gate.results.append(weakref.ref(result))
    return result


@handler("timeouts.blocks")
async def blocks(arguments: dict[str, Any], context: Context) -> Any:
    return Content(tuple({"type": "text", "text": "x" * 100} for _ in range(20_000)))


@handler("timeouts.failure")
async def failure(arguments: dict[str, Any], context: Context) -> Any:
    raise ToolFailure("no", content=(await blocks({}, context)).blocks)


@pytest.mark.requirement("I9.1.1")
@pytest.mark.parametrize("name", ["timeouts.rows", "timeouts.blocks", "timeouts.failure"])
async def test_the_time_out_bounds_the_work_on_the_result_too(name: str) -> None:
    executor = executor_of(builtin(name, timeout_ms=300), redact=late)
    with anyio.fail_after(BOUND_S):
        result = await executor.execute(name, None, LOCAL)
    assert (result.error_code, gate.open.is_set()) == ("timeout", False)


@pytest.mark.requirement("I9.1.1")
async def test_the_work_on_a_result_that_nobody_waits_for_ends() -> None:
    executor = executor_of(builtin("timeouts.rows", timeout_ms=300), redact=late)
    assert (await executor.execute("timeouts.rows", None, LOCAL)).error_code == "timeout"
    gate.open.set()
    with anyio.fail_after(BOUND_S):
        while gate.results[0]() is not None:
            gc.collect()
            await anyio.sleep(0.01)
    assert gate.redacted < 15_000


@handler("timeouts.stubborn")
async def stubborn(arguments: dict[str, Any], context: Context) -> str:
    while not gate.open.is_set():
        with suppress(asyncio.CancelledError):
            await anyio.sleep(0.01)
    gate.ended.release()
    return "at last"


@pytest.mark.requirement("I9.1.1")
async def test_a_handler_that_takes_no_cancellation_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_clock, "_AGAIN_S", 0.01)
    executor = executor_of(builtin("timeouts.stubborn", timeout_ms=20))
    with anyio.fail_after(BOUND_S):
        for _ in range(8):
            assert (await executor.execute("timeouts.stubborn", None, LOCAL)).error_code == "timeout"
        refused = await executor.execute("timeouts.stubborn", None, LOCAL)
        assert (refused.error_code, "8 of its calls" in refused.error) == ("busy", True)
        gate.open.set()
        for _ in range(8):
            await acquired(gate.ended)
        assert (await executor.execute("timeouts.stubborn", None, LOCAL)).result == "at last"


@pytest.mark.requirement("I2.3.4")
async def test_the_default_time_out_applies_where_a_tool_has_none() -> None:
    executor = executor_of(builtin("timeouts.block"))
    assert [tool.timeout_ms for tool in executor.registry] == [30_000]


@pytest.mark.requirement("I2.3.4")
@pytest.mark.parametrize("name", ["timeouts.await", "timeouts.polite"])
async def test_cancelling_execute_cancels_the_handler_and_gives_no_result(name: str) -> None:
    executor = executor_of(builtin(name))
    results: list[Any] = []

    async def call() -> None:
        results.append(await executor.execute(name, None, LOCAL))

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        if name == "timeouts.polite":
            await acquired(gate.started)
        else:
            await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert results == []
    if name == "timeouts.polite":
        await acquired(gate.ended)
    else:
        assert gate.async_cancelled
        assert gate.contexts[0].cancelled.is_set()


async def test_a_context_that_served_a_cancelled_call_serves_the_next_one_afresh() -> None:
    executor = executor_of(builtin("timeouts.block"), builtin("slow", "timeouts.await", timeout_ms=10))
    context = Context(LOCAL, meta={"a": 1})
    await executor.execute("slow", {}, context)
    gate.open.set()
    assert (await executor.execute("timeouts.block", {}, context)).result == "done"
    assert not gate.contexts[-1].cancelled.is_set()


@pytest.mark.requirement("I2.3.4")
async def test_a_hundred_blocking_handlers_do_not_stop_the_event_loop() -> None:
    executor = executor_of(builtin("timeouts.block"), concurrency_limits=WIDE)
    results: list[Any] = []

    async def call() -> None:
        results.append(await executor.execute("timeouts.block", None, LOCAL))

    async with anyio.create_task_group() as group:
        for _ in range(100):
            group.start_soon(call)
        for _ in range(MAX_RUNNING):
            await acquired(gate.started)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert results == []
        gate.open.set()
    assert [result.result for result in results] == ["done"] * 100
    assert gate.most_running == MAX_RUNNING


@pytest.mark.requirement("I2.3.4")
async def test_calls_that_timed_out_take_no_place_from_those_after_them() -> None:
    tools = [builtin(f"stuck{i}", "timeouts.block", timeout_ms=500) for i in range(MAX_RUNNING + 4)]
    executor = executor_of(*tools, builtin("string_regex"), concurrency_limits=WIDE)
    async with anyio.create_task_group() as group:
        for entry in tools:
            group.start_soon(executor.execute, entry["name"], None, LOCAL)
    assert gate.running >= MAX_RUNNING
    found = await executor.execute("string_regex", {"text": "abc", "pattern": "b"}, LOCAL)
    assert found.result["count"] == 1


@pytest.mark.requirement("I2.3.4")
async def test_a_tool_with_many_stuck_calls_refuses_more_until_they_end() -> None:
    executor = executor_of(builtin("timeouts.block", timeout_ms=20))
    while (refused := await executor.execute("timeouts.block", None, LOCAL)).error_code == "timeout":
        continue
    assert (refused.error_code, gate.running) == ("busy", MAX_ABANDONED)
    assert "stuck" in refused.error
    gate.open.set()
    for _ in range(MAX_ABANDONED):
        await acquired(gate.ended)
    with anyio.fail_after(BOUND_S):
        while (await executor.execute("timeouts.block", None, LOCAL)).error_code == "busy":
            await anyio.lowlevel.checkpoint()


def test_a_stuck_handler_does_not_hold_up_the_end_of_the_process(tmp_path: Path) -> None:
    program = """
import anyio, threading
from tests.support.executors import builtin, executor_of
from toolspan_server import LOCAL, handler

@handler("stuck")
def stuck(arguments, context):
    threading.Event().wait()

print(anyio.run(executor_of(builtin("stuck", timeout_ms=20)).execute, "stuck", {}, LOCAL).error)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=True,
    )
    assert ended.stdout == "Tool execution timed out after 20ms\n"
    assert ended.stderr == ""
