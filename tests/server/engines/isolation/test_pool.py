"""The workers of a server: how many, whose turn it is, and how they end."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.isolated import HANDLERS, config, entry, is_alive, noted, served
from tests.support.waiting import until
from toolspan_server import load_config
from toolspan_server.calls.caller import LOCAL
from toolspan_server.config.models.limits import LimitsConfig

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I9.2.14")]


@pytest.mark.parametrize("processes", [1, 2])
async def test_two_hundred_calls_share_few_workers_and_the_handlers_take_turns(
    tmp_path: Path, processes: int
) -> None:
    limits = {
        "handler_processes": processes,
        "concurrent_calls_per_target": 500,
        "concurrent_calls_per_kind": 500,
    }
    other = entry("other", "isolated_environment")
    order: list[str] = []
    pids: set[int] = set()
    async with served(config(tmp_path, other, limits=limits)) as runtime, anyio.create_task_group() as group:

        async def call(name: str) -> None:
            result = await runtime.execute(name, {}, LOCAL)
            assert result.success, result.error
            order.append(name)
            pids.update([result.result["pid"]] if name == "pid" else [])

        for _ in range(199):
            group.start_soon(call, "pid")
        group.start_soon(call, "other")
    assert len(order) == 200
    assert processes == 2 or order.index("other") < 190
    assert 1 <= len(pids) <= processes


async def test_a_handler_that_hangs_leaves_a_worker_to_the_others(tmp_path: Path) -> None:
    async with served(config(tmp_path)) as runtime, anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(runtime.execute, "wait", {"until": "never", "note": f"w{number}"}, LOCAL)
        await until(lambda: noted(tmp_path, "w0"))
        assert (await runtime.execute("pid", {}, LOCAL)).success
        assert sum(bool(noted(tmp_path, f"w{number}")) for number in range(5)) == 1
        group.cancel_scope.cancel()


@pytest.mark.requirement("I12.7.8")
async def test_by_default_more_calls_than_may_run_of_a_handler_that_hangs_leave_workers_to_the_others(
    tmp_path: Path,
) -> None:
    path = config(tmp_path, limits={"handler_processes": LimitsConfig.initial().handler_processes})
    async with served(path) as runtime, anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(runtime.execute, "wait", {"until": "never", "note": f"w{number}"}, LOCAL)
        await until(lambda: sum(bool(noted(tmp_path, f"w{number}")) for number in range(40)) == 12)
        assert (await runtime.execute("pid", {}, LOCAL)).success
        group.cancel_scope.cancel()


async def test_the_time_in_line_counts_and_a_call_that_gave_up_there_takes_no_worker(tmp_path: Path) -> None:
    late = entry("late", "isolated_wait", timeout_ms=50)
    async with served(config(tmp_path, late)) as runtime, anyio.create_task_group() as group:
        group.start_soon(runtime.execute, "wait", {"until": "go", "note": "first"}, LOCAL)
        await until(lambda: noted(tmp_path, "first"))
        result = await runtime.execute("late", {"until": "go", "note": "late"}, LOCAL)
        assert result.error_code == "timeout"
        (tmp_path / "go").touch()
    assert not noted(tmp_path, "late")


async def test_a_call_that_times_out_ends_with_all_that_it_started_wherever_that_went(tmp_path: Path) -> None:
    brief = entry("brief", "isolated_family", timeout_ms=1_500)
    async with served(config(tmp_path, brief)) as runtime:
        while not noted(tmp_path):
            assert (await runtime.execute("brief", {}, LOCAL)).error_code == "timeout"
        pids = noted(tmp_path)
        assert len(pids) == 4
        await until(lambda: not any(map(is_alive, pids)))
        assert (await runtime.execute("pid", {}, LOCAL)).success


async def test_a_handler_that_notices_its_cancellation_keeps_its_worker(tmp_path: Path) -> None:
    async with served(config(tmp_path, limits={"handler_processes": 1})) as runtime:
        async with anyio.create_task_group() as group:
            group.start_soon(runtime.execute, "wait", {"until": "never"}, LOCAL)
            await until(lambda: noted(tmp_path))
            group.cancel_scope.cancel()
        assert (await runtime.execute("pid", {}, LOCAL)).result["pid"] == noted(tmp_path)[0]


async def test_an_async_handler_apart_is_cancelled_in_the_usual_way(tmp_path: Path) -> None:
    apart = entry("apart", "isolated_sleep", isolation="process")
    async with served(config(tmp_path, apart)) as runtime:
        async with anyio.create_task_group() as group:
            group.start_soon(runtime.execute, "apart", {}, LOCAL)
            await until(lambda: noted(tmp_path))
            group.cancel_scope.cancel()
        await until((tmp_path / "slept").exists)


async def test_a_worker_that_is_killed_while_nobody_needs_it_is_replaced(tmp_path: Path) -> None:
    async with served(config(tmp_path)) as runtime:
        first = (await runtime.execute("pid", {}, LOCAL)).result["pid"]
        os.kill(first, signal.SIGKILL)
        await until(lambda: not is_alive(first))
        results = [await runtime.execute("pid", {}, LOCAL) for _ in range(3)]
    assert results[-1].result["pid"] != first
    assert [each.error_code for each in results if not each.success] in ([], ["worker_ended"])


CHANGING = """
import time
from toolspan_server import handler

@handler("changing")
def changing(arguments, context):
    (context.config_dir / "begun").touch()
    while arguments["wait"] and not (context.config_dir / "go").exists():
        time.sleep(0.01)
    return VERSION

VERSION = 1
"""


async def test_a_reload_lets_a_call_end_in_the_old_code_and_begins_the_next_in_the_new(
    tmp_path: Path,
) -> None:
    own = tmp_path / "changing.py"
    own.write_text(CHANGING)
    changing, handlers = entry("changing", "changing"), [str(own), str(HANDLERS)]
    path = config(tmp_path, changing, handlers=handlers, limits={"handler_processes": 3})
    async with served(path) as runtime, anyio.create_task_group() as group:
        results: list[Any] = []

        async def call() -> None:
            results.append((await runtime.execute("changing", {"wait": True}, LOCAL)).result)

        group.start_soon(call)
        await until((tmp_path / "begun").exists)
        before = (await runtime.execute("pid", {}, LOCAL)).result["pid"]
        own.write_text(CHANGING.replace("VERSION = 1", "VERSION = 2  # changed"))
        await runtime.replace(load_config(path))
        assert (await runtime.execute("changing", {"wait": False}, LOCAL)).result == 2
        (tmp_path / "go").touch()
        await until(lambda: results)
        assert results == [1]
        await until(lambda: not is_alive(before))


async def test_no_worker_is_left_when_the_server_ends(tmp_path: Path) -> None:
    async with served(config(tmp_path)) as runtime, anyio.create_task_group() as group:
        group.start_soon(runtime.execute, "family", {}, LOCAL)
        idle = (await runtime.execute("pid", {}, LOCAL)).result["pid"]
        await until(lambda: noted(tmp_path))
        group.cancel_scope.cancel()
    pids = [idle, *noted(tmp_path)]
    await until(lambda: not any(map(is_alive, pids)))
