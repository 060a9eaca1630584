"""Our own server, spoken to without the SDK: what comes back is what the SDK would give."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.served import tool, write_config
from tests.support.upstreams import until
from tests.support.waiting import BOUND_S
from toolspan_server.engines.upstreams import CallRefused, Connection, ServerGone, ServerSpec, UpstreamResult

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I9.4.6")]

HANDLERS = ("large", "meta", "odd", "raise", "raise_async", "wait", "die", "stdout")
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("echo", {"value": "é\n\u2028"}),
    ("echo", {"value": {"a": [1, 2.5, None, True]}}),
    ("echo", {"value": None}),
    ("echo", {}),
    ("weather", {"location": "Paris"}),
    ("weather", {}),
    ("add", {}),
    ("large", {"size": 300_000}),
    ("odd", {}),
    ("raise", {}),
    ("stdout", {}),
)


@asynccontextmanager
async def connected(config: Path, *, own: bool) -> AsyncGenerator[Connection]:
    command = (sys.executable, "-m", "toolspan_server", "--config", str(config))
    connection = Connection(ServerSpec("s", command=command, inherit_env=True, own=own), BOUND_S)
    async with anyio.create_task_group() as group:
        group.start_soon(connection.run)
        with anyio.fail_after(BOUND_S):
            await connection.ready.wait()
        yield connection
        connection.stop()


def plain(answer: Any) -> Any:
    assert isinstance(answer, UpstreamResult)
    said = json.dumps([answer.content, answer.structured])
    timeless = re.sub(r'(execution_time_ms\\*"): ?[\d.]+', r"\1:0", said)
    return (*json.loads(timeless), answer.is_error, answer.has_structured, answer.wraps)


async def outcome(connection: Connection, name: str, arguments: dict[str, Any]) -> Any:
    try:
        return plain(await connection.call(name, arguments, timeout=BOUND_S))
    except CallRefused as refused:
        return refused.code, refused.message


async def test_lists_and_answers_are_those_that_the_sdk_gives(tmp_path: Path) -> None:
    config = write_config(tmp_path, *HANDLERS)
    async with connected(config, own=True) as ours, connected(config, own=False) as theirs:
        assert ours.failure is theirs.failure is None
        assert ours.tools == theirs.tools and len(ours.tools) == 3 + len(HANDLERS)
        for name, arguments in (*CALLS, ("no_such_tool", {})):
            assert await outcome(ours, name, arguments) == await outcome(theirs, name, arguments), name


async def test_every_page_is_read(tmp_path: Path) -> None:
    config = write_config(tmp_path, *HANDLERS, limits={"page_size": 2})
    async with connected(config, own=True) as connection:
        assert len(connection.tools) == 3 + len(HANDLERS)
        assert connection.warnings == ()


async def test_answers_of_calls_at_the_same_time_are_told_apart(tmp_path: Path) -> None:
    async with connected(write_config(tmp_path), own=True) as connection:
        answers: dict[int, Any] = {}

        async def ask(number: int) -> None:
            answers[number] = plain(await connection.call("echo", {"value": number}, timeout=BOUND_S))[1]

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(ask, number)
        assert answers == {number: number for number in range(50)}


async def test_a_call_that_is_cancelled_is_cancelled_there_and_the_next_one_answered(tmp_path: Path) -> None:
    async with connected(write_config(tmp_path, "wait"), own=True) as connection:
        async with anyio.create_task_group() as group:
            group.start_soon(connection.call, "wait", {"seconds": 30, "note": "cancelled"})
            await until((tmp_path / "cancelled.started").exists)
            group.cancel_scope.cancel()
        await until((tmp_path / "cancelled").exists)
        assert (await outcome(connection, "add", {}))[1] == "4"


async def test_a_server_that_dies_in_a_call_is_told_of_and_started_again(tmp_path: Path) -> None:
    async with connected(write_config(tmp_path, "die"), own=True) as connection:
        with pytest.raises(ServerGone):
            await connection.call("die", {}, timeout=BOUND_S)
        assert (await outcome(connection, "add", {}))[1] == "4"


@pytest.mark.cold
async def test_neither_side_needs_the_sdk_for_plain_calls(tmp_path: Path) -> None:
    async with connected(write_config(tmp_path, "imported"), own=True) as connection:
        names = ["mcp", "mcp_types", "pydantic", "httpx2", "starlette", "toolspan_server.protocol.fast_path"]
        answer = await outcome(connection, "imported", {"names": names})
        assert answer[1] == ["toolspan_server.protocol.fast_path"]


async def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    config = tmp_path / "toolspan.json"
    config.write_text('{"tools": {"registry": [{}]}}')
    async with connected(config, own=True) as connection:
        assert connection.failure is not None
        assert "exited with status 2 before it answered" in connection.failure.reason
        assert any("'name' is missing" in line for line in connection.failure.stderr)


async def test_a_tool_that_would_ask_its_client_is_told_that_nobody_answers(tmp_path: Path) -> None:
    asking = tool("asking", {"type": "mock", "mock_response": "done"}, approval=True)
    own = tmp_path / "own.json"
    own.write_text(json.dumps({"tools": {"registry": [asking]}}))
    async with connected(own, own=True) as ours, connected(own, own=False) as theirs:
        assert await outcome(ours, "asking", {}) == await outcome(theirs, "asking", {})
