"""Tasks that an async handler begins end with its call, however that ends."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from tests.support.executors import builtin, executor_of
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.context import Context
from toolspan_server.engines.registration import handler

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I24.6.6")]
seen: list[str] = []


async def _endless(name: str) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        seen.append(name)


async def _grandchild() -> None:
    seen.append("began")
    held = asyncio.create_task(_endless("grandchild"))
    await _endless("child")
    del held


@handler("leaves_tasks")
async def _leaves_tasks(arguments: dict[str, Any], context: Context) -> str:
    held = asyncio.get_running_loop().create_task(_grandchild())
    while "began" not in seen:
        await anyio.lowlevel.checkpoint()
    await anyio.lowlevel.checkpoint()
    if arguments["how"] == "raises":
        raise RuntimeError("broke")
    if arguments["how"] == "hangs":
        await anyio.sleep_forever()
    del held
    return "done"


def calling(name: str, timeout_ms: int = 300) -> Any:
    return executor_of(builtin("t", name, timeout_ms=timeout_ms))


@pytest.mark.parametrize(
    ("how", "code"), [("returns", ""), ("raises", "execution_error"), ("hangs", "timeout")]
)
async def test_what_a_handler_leaves_behind_is_cancelled_before_its_call_ends(how: str, code: str) -> None:
    seen.clear()
    result = await calling("leaves_tasks").execute("t", {"how": how}, LOCAL)
    assert sorted(seen) == ["began", "child", "grandchild"]
    assert result.error_code == code


async def test_a_call_that_is_cancelled_takes_its_tasks_with_it() -> None:
    seen.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(calling("leaves_tasks", 60_000).execute, "t", {"how": "hangs"}, LOCAL)
        while "began" not in seen:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert sorted(seen) == ["began", "child", "grandchild"]


@handler("fails_when_its_time_is_over")
async def _fails_late(arguments: dict[str, Any], context: Context) -> str:
    try:
        await anyio.sleep_forever()
    except asyncio.CancelledError:
        raise OSError("a worker process cannot be started") from None
    return ""


async def test_what_fails_because_its_time_is_over_gives_the_time_outs_own_error() -> None:
    result = await calling("fails_when_its_time_is_over", 50).execute("t", {}, LOCAL)
    assert (result.error_code, result.error) == ("timeout", "Tool execution timed out after 50ms")
