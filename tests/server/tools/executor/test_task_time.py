"""A call that goes on as a task has the time of that, not its tool's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from typing_extensions import override

from tests.support.upstreams import FakeClient
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import Capability
from toolspan_server.calls.context import Context
from toolspan_server.errors import ToolTimeout
from toolspan_server.tools.executor.steps.timeout import timed_out

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I15.4.48")]


class Taking(FakeClient):
    """A client that lets calls become tasks, or not."""

    def __init__(self, tasks: bool) -> None:
        super().__init__()
        self.tasks = tasks
        self.released = 0

    @override
    def accepts(self, capability: Capability) -> bool:
        return capability == "task" and self.tasks

    @override
    async def release(self) -> None:
        self.released += 1


@pytest.mark.parametrize("tasks", [True, False])
async def test_the_time_limit_of_a_tool_ends_no_call_that_has_become_a_task(tasks: bool) -> None:
    async def lasting(_arguments: dict[str, Any], context: Context) -> str:
        await context.client.release()
        beyond = asyncio.Event()
        asyncio.get_running_loop().call_later(0.05, beyond.set)
        await beyond.wait()
        return "done"

    client = Taking(tasks)
    step = timed_out(lasting, 5)
    if tasks:
        assert await step({}, Context(LOCAL, client=client)) == "done"
    else:
        with pytest.raises(ToolTimeout):
            await step({}, Context(LOCAL, client=client))
    assert client.released == 1
