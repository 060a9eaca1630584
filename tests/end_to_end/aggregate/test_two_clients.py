"""What a server behind an aggregate says and asks in a call reaches the client of that call alone."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    LoggingMessageNotificationParams,
    TextContent,
)

from tests.support.aggregates import ERAS, aggregate, connected, text
from tests.support.mcp_peers import talker_over_http
from tests.support.served import http_server
from tests.support.upstreams import talker, until

pytestmark = [pytest.mark.long, pytest.mark.anyio]

UPSTREAMS = ("http", "stdio")
"""Of 2025-11-25 over HTTP, which asks by requests; of 2026-07-28 over stdio, which asks by its results."""


class Caller:
    """A client with somebody at it, who answers with ``name`` once ``may_answer``, and what reached it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[str] = []
        self.logged: list[Any] = []
        self.steps: list[tuple[float, float | None, str | None]] = []
        self.is_asked = anyio.Event()
        self.may_answer = anyio.Event()
        self.client: Any = None

    async def _wait(self, what: str) -> None:
        self.asked.append(what)
        self.is_asked.set()
        await self.may_answer.wait()

    async def elicited(self, _context: Any, _params: ElicitRequestParams) -> ElicitResult:
        await self._wait("elicitation")
        return ElicitResult(action="accept", content={"city": self.name})

    async def sampled(self, _context: Any, _params: CreateMessageRequestParams) -> CreateMessageResult:
        await self._wait("sampling")
        said = TextContent(type="text", text=self.name)
        return CreateMessageResult(role="assistant", content=said, model="m")

    async def heard(self, params: LoggingMessageNotificationParams) -> None:
        self.logged.append(params.data)

    async def moved(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append((progress, total, message))

    @asynccontextmanager
    async def at(self, url: str, mode: str) -> AsyncGenerator[None]:
        """Connected to the server at ``url``."""
        callbacks = {
            "elicitation_callback": self.elicited,
            "sampling_callback": self.sampled,
            "logging_callback": self.heard,
            "log_level": "info",
        }
        async with connected(url, mode=mode, **callbacks) as self.client:
            yield

    async def call(self, tool: str, into: list[Any], **arguments: Any) -> None:
        """Call the tool and put the text of its result ``into`` a list."""
        result = await self.client.call_tool(f"talker_{tool}", arguments, progress_callback=self.moved)
        assert not result.is_error, text(result)
        into.append(text(result))


@asynccontextmanager
async def two_callers(folder: Path, mode: str, upstream: str) -> AsyncGenerator[tuple[Caller, Caller]]:
    """Ann and Bob, connected to one aggregate of the server that talks in its calls."""
    ann, bob = Caller("Ann"), Caller("Bob")
    with talker_over_http() as behind:
        server = {"url": behind} if upstream == "http" else talker("new")
        with http_server(aggregate(folder, {"talker": server}, {})) as served:
            where = f"{served.url}/mcp"
            async with ann.at(where, mode), bob.at(where, mode):
                yield ann, bob


@pytest.mark.requirement("I15.4.29")
@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(("tool", "ability"), [("elicit", "elicitation"), ("sample", "sampling")])
async def test_two_clients_that_are_asked_at_once_answer_each_for_its_own_call(
    tmp_path: Path, mode: str, upstream: str, tool: str, ability: str
) -> None:
    async with two_callers(tmp_path, mode, upstream) as (ann, bob):
        of_ann: list[str] = []
        of_bob: list[str] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ann.call, tool, of_ann)
            tasks.start_soon(bob.call, tool, of_bob)
            await ann.is_asked.wait()
            await bob.is_asked.wait()
            bob.may_answer.set()
            await until(lambda: of_bob)
            assert not of_ann
            ann.may_answer.set()
        assert ann.asked == bob.asked == [ability]
        for mine, own, other in ((of_ann, "Ann", "Bob"), (of_bob, "Bob", "Ann")):
            answer = json.dumps(json.loads(mine[0])["answer"])
            assert own in answer and other not in answer


@pytest.mark.requirement("I15.4.30")
@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("mode", ERAS)
async def test_progress_and_logs_of_a_call_reach_no_client_that_waits_in_another(
    tmp_path: Path, mode: str, upstream: str
) -> None:
    note = tmp_path / "note"
    async with two_callers(tmp_path, mode, upstream) as (ann, bob):
        done: list[str] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: bob.call("hang", done, note=str(note)))
            await until(Path(f"{note}.started").exists)
            await ann.call("report", done, logs=2, steps=3)
            assert [step[0] for step in ann.steps] == [1, 2, 3]
            # Over stdio a log message does not say to which of the calls it belongs: neither client gets it.
            assert ann.logged == (["working 0", "working 1"] if upstream == "http" else [])
            assert (bob.steps, bob.logged) == ([], [])
            tasks.cancel_scope.cancel()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: ann.call("report", done, logs=0, steps=1))
            tasks.start_soon(lambda: bob.call("report", done, logs=0, steps=4))
        assert ([step[1] for step in ann.steps[3:]], [step[1] for step in bob.steps]) == ([1], [4] * 4)


@pytest.mark.requirement("I15.4.31")
@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_that_cancels_ends_its_own_call_and_no_other(
    tmp_path: Path, mode: str, upstream: str
) -> None:
    mine, others, done = tmp_path / "ann", tmp_path / "bob", list[str]()
    async with two_callers(tmp_path, mode, upstream) as (ann, bob), anyio.create_task_group() as tasks:
        tasks.start_soon(bob.call, "elicit", done)
        tasks.start_soon(lambda: bob.call("hang", done, note=str(others)))
        await bob.is_asked.wait()
        await until(Path(f"{others}.started").exists)
        async with anyio.create_task_group() as calls:
            calls.start_soon(lambda: ann.call("hang", done, note=str(mine)))
            await until(Path(f"{mine}.started").exists)
            calls.cancel_scope.cancel()
        await until(mine.exists)
        assert not others.exists() and not done
        bob.may_answer.set()
        await until(lambda: done)
        assert "Bob" in done[0] and not others.exists()
        tasks.cancel_scope.cancel()
