"""Streams of the 2025 era that are let go and taken up again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
import pytest

from tests.support.asgi import Reply
from tests.support.talking import Session, reached, talking, tool
from tests.support.waiting import BOUND_S
from toolspan_server.calls.context import Context
from toolspan_server.common.changes import Change

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.6")]


def ids(reply: Reply) -> list[str]:
    """The ids of a stream's events, in their order."""
    return re.findall(r"^id: (\S+)", reply.body.decode(), re.MULTILINE)


async def resumed(session: Session, last: str, count: int) -> list[Any]:
    """The first messages of the stream that goes on after the event ``last``."""
    reply, gone = Reply(), anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(partial(session.listen, reply, gone, **{"last-event-id": last}))
        messages = await reached(reply, count)
        gone.set()
    return messages


async def test_a_tool_lets_its_stream_go_and_the_answer_waits_for_the_client() -> None:
    go_on = anyio.Event()

    async def released(_arguments: Mapping[str, Any], context: Context) -> str:
        await context.client.progress(1)
        await context.client.release()
        await go_on.wait()
        await context.client.progress(2)
        return "after all"

    async with talking(tool("released", released)) as server:
        session = await server.session()
        params = {"name": "released", "_meta": {"progressToken": 1}}
        first = await session.ask("tools/call", params)
        assert b"retry: 1000" in first.body
        assert [each["params"]["progress"] for each in first.messages] == [1]
        go_on.set()
        progress, answer = await resumed(session, ids(first)[-1], 2)
        again = await resumed(session, ids(first)[0], 3)
    assert progress["params"]["progress"] == 2
    assert answer["result"]["content"][0]["text"] == "after all"
    assert again[1:] == [progress, answer]


async def test_an_answer_that_comes_while_the_client_is_away_ends_the_stream_that_brings_it() -> None:
    async def released(_arguments: Mapping[str, Any], context: Context) -> str:
        await context.client.release()
        return "soon"

    async with talking(tool("released", released)) as server:
        session = await server.session()
        first = await session.ask("tools/call", {"name": "released"})
        with anyio.fail_after(BOUND_S):
            await server.application.calls.finished(BOUND_S)
        reply = Reply()
        await session.listen(reply, anyio.Event(), **{"last-event-id": ids(first)[-1]})
    assert reply.messages[-1]["result"]["content"][0]["text"] == "soon"
    assert reply.ended.is_set()


async def test_news_that_came_while_the_client_was_away_are_told_when_it_is_back() -> None:
    async with talking() as server:
        session = await server.session()
        reply, gone = Reply(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(session.listen, reply, gone)
            await reply.started.wait()
            server.runtime.changes.publish(Change("tools"))
            await reached(reply, 1)
            gone.set()
        server.runtime.changes.publish(Change("tools"))
        await session.ask("tools/list", {"cursor": None})
        [told] = await resumed(session, ids(reply)[-1], 1)
    assert told["method"] == "notifications/tools/list_changed"


async def test_an_older_client_keeps_its_stream() -> None:
    async def released(_arguments: Mapping[str, Any], context: Context) -> str:
        await context.client.release()
        return "at once"

    async with talking(tool("released", released)) as server:
        session = await server.session(version="2025-06-18")
        reply = await session.ask("tools/call", {"name": "released"})
    assert reply.message["result"]["content"][0]["text"] == "at once"


@pytest.mark.parametrize("last", ["99999", "nothing", "-1"])
async def test_an_event_that_is_not_kept_resumes_nothing(last: str) -> None:
    async with talking() as server:
        session = await server.session()
        reply = Reply()
        await session.listen(reply, anyio.Event(), **{"last-event-id": last})
    assert (reply.status, reply.messages) == (200, [])


async def test_events_are_kept_within_their_number_bytes_and_age() -> None:
    from mcp_types import JSONRPCNotification

    from toolspan_server.protocol.sdk import event_store

    now = 0.0
    events = event_store.Events(clock=lambda: now)
    small = JSONRPCNotification(jsonrpc="2.0", method="small")
    large = JSONRPCNotification(jsonrpc="2.0", method="x" * (event_store.MOST_BYTES // 2))

    async def kept(event_id: str) -> bool:
        async def nothing(_: Any) -> None: ...

        return await events.replay_events_after(event_id, nothing) is not None

    first = await events.store_event("s", small)
    last = [await events.store_event("s", small) for _ in range(event_store.MOST_EVENTS)]
    assert not await kept(first)
    assert await kept(last[0])
    for _ in range(2):
        await events.store_event("s", large)
    assert not await kept(last[-1])
    newest = await events.store_event("s", small)
    now = event_store.MOST_AGE_S + 1
    await events.store_event("s", small)
    assert not await kept(newest)


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("reports", [0, 1])
async def test_a_call_whose_session_is_deleted_meanwhile_is_told_so_on_its_stream(
    version: str, reports: int
) -> None:
    running = anyio.Event()

    async def lasting(_arguments: Mapping[str, Any], context: Context) -> str:
        for number in range(reports):
            await context.client.progress(number)
        running.set()
        await anyio.sleep_forever()
        return "never"

    reply = Reply()
    async with talking(tool("lasting", lasting)) as server:
        session = await server.session(version=version)
        params = {"name": "lasting", "_meta": {"progressToken": 1}}
        async with anyio.create_task_group() as group:
            group.start_soon(partial(session.ask, "tools/call", params, 7, reply))
            await running.wait()
            with anyio.fail_after(BOUND_S):
                await reply.started.wait()
            gone = await session.client.ask("DELETE", headers=session.headers)
    assert gone.status == 200
    assert [each["method"] for each in reply.messages[:-1]] == ["notifications/progress"] * reports
    assert (reply.messages[-1]["id"], reply.messages[-1]["error"]["message"]) == (7, "The session has ended")


async def test_a_stream_that_is_let_go_says_nothing_of_an_end() -> None:
    async def released(_arguments: Mapping[str, Any], context: Context) -> str:
        await context.client.release()
        await anyio.sleep_forever()
        return "never"

    async with talking(tool("released", released)) as server:
        session = await server.session()
        first = await session.ask("tools/call", {"name": "released"})
        assert first.messages == []
