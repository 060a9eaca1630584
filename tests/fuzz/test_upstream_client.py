"""The client of other MCP servers, with servers that speak nonsense: it comes to an end, whatever they say.

Each call ends in an answer or in one of the client's own errors, in its time; no task and no process stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import ExitStack
from itertools import count

import anyio
import pytest

from tests.support.fuzzing import go_on
from tests.support.mcp_peers import babbler, babbler_over_http
from tests.support.waiting import BOUND_S
from toolspan_server.engines.upstreams import (
    CallRefused,
    Connection,
    InputNeeded,
    NoResult,
    Restarts,
    ServerGone,
    ServerSpec,
)

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.5.2")]

CONNECT_S, CALL_S = 5.0, 0.5
CALLS, AT_ONCE, OVER_HTTP = 6, 4, 1
RESTARTS = Restarts(most=1, first_pause=0.01, longest_pause=0.05, from_start=True)


async def called(connection: Connection) -> str:
    """How one call ends."""
    try:
        answer = await connection.call("flood", {"x": 1}, timeout=CALL_S)
        return "needs input" if isinstance(answer, InputNeeded) else "answered"
    except (CallRefused, NoResult, ServerGone, TimeoutError) as ended:
        return type(ended).__name__


async def talked_to(spec: ServerSpec, endings: Counter[str]) -> None:
    """Connect, make some calls, and leave."""
    connection = Connection(spec, CONNECT_S, restarts=RESTARTS, on_listing=lambda _: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        await connection.ready.wait()
        for _ in range(CALLS):
            endings[await called(connection)] += 1
        connection.stop()


async def all_talked_to(specs: list[ServerSpec]) -> Counter[str]:
    endings: Counter[str] = Counter()
    with anyio.fail_after(BOUND_S):
        before = len(asyncio.all_tasks())
        async with anyio.create_task_group() as tasks:
            for spec in specs:
                tasks.start_soon(talked_to, spec, endings)
        assert len(asyncio.all_tasks()) == before
    return endings


def test_whatever_a_server_says_every_call_ends_in_its_time(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    seeds = count(1)

    def examined() -> None:
        numbers = [next(seeds) for _ in range(AT_ONCE)]
        with ExitStack() as stack:
            over_http = [stack.enter_context(babbler_over_http(seed)) for seed in numbers[:OVER_HTTP]]
            specs = over_http + [babbler(seed) for seed in numbers[OVER_HTTP:]]
            endings = anyio.run(all_talked_to, specs)
        assert endings.total() == AT_ONCE * CALLS, (numbers, endings)
        print(numbers[0], dict(endings))
        assert endings["answered"] and len(endings) > 1, (numbers, endings)

    go_on(examined)
