"""A cancellation while a child process is started leaves none of it behind: no process, no pipe."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from toolspan_server.engines.isolation import ProcessLimits
from toolspan_server.engines.isolation._worker import Worker
from toolspan_server.engines.upstreams import ServerSpec
from toolspan_server.engines.upstreams.child.aftercare import ended_afterwards
from toolspan_server.engines.upstreams.child.process import Child, started
from toolspan_server.tools.sources import _schemas

pytestmark = [
    pytest.mark.requirement("I9.3.30"),
    pytest.mark.skipif(sys.platform != "linux", reason="who the children are is read from Linux's /proc"),
]


async def upstream() -> None:
    async with started(ServerSpec("cat", command=("cat",)), Child()):
        await anyio.sleep_forever()


async def worker() -> None:
    made = await Worker.started(ProcessLimits())
    await made.end()


async def schemas() -> None:
    await _schemas._child_judges(['{"type": "object"}'], {})


def cancelled_after(turns: int, what: Callable[[], Awaitable[None]]) -> set[str]:
    """Run ``what`` and cancel it once the event loop has turned that often; the loop ends at once then.

    Gives the children that there were before it did.
    """

    async def main() -> set[str]:
        loop = asyncio.get_running_loop()

        def turn(left: int) -> None:
            if left:
                loop.call_soon(turn, left - 1)
            else:
                scope.cancel()

        with anyio.CancelScope() as scope:
            turn(turns)
            await what()
        return children()

    return anyio.run(main)


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.mark.long
@pytest.mark.parametrize("what", [upstream, worker, schemas])
def test_whenever_a_start_is_cancelled_no_process_and_no_pipe_is_left(
    what: Callable[[], Awaitable[None]], caplog: pytest.LogCaptureFixture
) -> None:
    with ended_afterwards(os.getpgrp()):
        """The shell that ends servers afterwards is started once in a process, and stays."""
    gc.collect()
    before = children()
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always", ResourceWarning)
        for turns in range(8):
            assert cancelled_after(turns, what) <= before
        gc.collect()
    assert [str(each.message) for each in left] == []
    assert caplog.messages == []
