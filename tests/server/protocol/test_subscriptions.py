"""What changes reaches whoever wants to know, in both eras, over HTTP and stdio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from tests.support.asgi import Reply
from tests.support.served import INITIALIZE, INITIALIZED, MODERN_META
from tests.support.talking import Session, Talking, reached, talking, tool
from tests.support.two_ways import piped
from tests.support.waiting import BOUND_S
from toolspan_server.calls.client import Question
from toolspan_server.calls.context import Context
from toolspan_server.common.changes import Change
from toolspan_server.live.views import ServerView

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.5")]

TOOLS, PROMPTS, RESOURCES = (Change(of) for of in ("tools", "prompts", "resources"))
ONE, OTHER = Change("resource", "test://one"), Change("resource", "test://other")
OFFER = {
    "resources": [{"uri": each.uri, "name": each.uri[7:], "text": "hello"} for each in (ONE, OTHER)],
    "prompts": [{"name": "hi", "messages": [{"text": "Hi"}]}],
}
ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": [ONE.uri]}
KEY = "io.modelcontextprotocol/subscriptionId"


async def plain(_arguments: Mapping[str, Any], _context: Context) -> str:
    return "done"


@asynccontextmanager
async def listening(
    server: Talking, wanted: dict[str, Any], request_id: int | str = 1
) -> AsyncGenerator[Reply]:
    """A subscription, acknowledged."""
    reply, gone = Reply(), anyio.Event()
    async with anyio.create_task_group() as group:
        listen = partial(server.modern, "subscriptions/listen", {"notifications": wanted})
        group.start_soon(partial(listen, request_id=request_id, reply=reply, gone=gone))
        await reached(reply, 1)
        yield reply
        gone.set()


@asynccontextmanager
async def watching(session: Session) -> AsyncGenerator[Reply]:
    """The stream of a session of the 2025 era, open."""
    reply, gone = Reply(), anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(session.listen, reply, gone)
        with anyio.fail_after(BOUND_S):
            await reply.started.wait()
        yield reply
        gone.set()


async def test_a_subscription_hears_what_it_asked_for_and_nothing_else() -> None:
    async with talking(**OFFER) as server, listening(server, ALL, "mine") as reply:
        server.runtime.changes.publish(RESOURCES, OTHER, TOOLS, ONE, ONE)
        await reached(reply, 3)
        server.runtime.changes.publish(PROMPTS)
        acknowledged, *told = await reached(reply, 4)
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["notifications"] == ALL
    assert [each["method"] for each in told] == [
        "notifications/tools/list_changed",
        "notifications/resources/updated",
        "notifications/prompts/list_changed",
    ]
    assert told[1]["params"]["uri"] == ONE.uri
    assert {each["params"]["_meta"][KEY] for each in (acknowledged, *told)} == {"mine"}


async def test_what_the_server_does_not_have_is_not_acknowledged() -> None:
    async with talking(tool("plain", plain)) as server, listening(server, ALL) as reply:
        [acknowledged] = await reached(reply, 1)
    assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}


async def test_the_end_of_the_server_ends_a_subscription_with_its_result() -> None:
    async with talking() as server, listening(server, ALL) as reply:
        server.application.part()
        last = (await reached(reply, 2))[-1]
    assert last["result"]["resultType"] == "complete"
    assert last["result"]["_meta"][KEY] == 1


async def test_a_session_hears_of_changed_lists_on_its_stream() -> None:
    async with talking(**OFFER) as server:
        session = await server.session()
        assert session.opened["capabilities"]["tools"] == {"listChanged": True}
        async with watching(session) as reply:
            server.runtime.changes.publish(TOOLS, ONE)
            await reached(reply, 1)
            server.runtime.changes.publish(PROMPTS, RESOURCES)
            told = await reached(reply, 3)
    assert [each["method"].split("/")[1] for each in told] == ["tools", "prompts", "resources"]


async def test_a_session_hears_of_the_resources_that_it_subscribed_to() -> None:
    async with talking(**OFFER) as server:
        session, other = await server.session(), await server.session()
        for method, uri in (("subscribe", ONE.uri), ("subscribe", OTHER.uri), ("unsubscribe", OTHER.uri)):
            assert (await session.ask(f"resources/{method}", {"uri": uri})).message["result"] == {}
        async with watching(session) as reply, watching(other) as others:
            server.runtime.changes.publish(OTHER, ONE)
            server.runtime.changes.publish(TOOLS)
            told, others_told = await reached(reply, 2), await reached(others, 1)
    assert told[0] == {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": ONE.uri},
    }
    assert others_told[0]["method"] == "notifications/tools/list_changed"


async def test_what_is_remembered_of_a_client_is_short() -> None:
    long = "test://" + "x" * 8_192
    async with talking(**OFFER) as server:
        session = await server.session()
        refused = await session.ask("resources/subscribe", {"uri": long})
        wanted = {"resourceSubscriptions": [long, ONE.uri]}
        async with listening(server, wanted) as reply:
            [acknowledged] = await reached(reply, 1)
    assert "8,192 characters" in refused.messages[-1]["error"]["message"]
    assert acknowledged["params"]["notifications"] == {"resourceSubscriptions": [ONE.uri]}


async def test_a_request_without_a_session_cannot_subscribe() -> None:
    async with talking(**OFFER) as server:
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        body = b'{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://one"}}'
        reply = await server.client.ask("POST", body, {**headers, "mcp-protocol-version": "2025-11-25"})
    assert "needs a session" in reply.messages[-1]["error"]["message"]


async def test_on_stdio_a_client_that_only_used_the_short_path_hears_of_changes() -> None:
    async with talking(tool("plain", plain)) as server, piped(ServerView(server.runtime)) as client:
        await client.ask(INITIALIZE)
        server.runtime.changes.publish(TOOLS)  # before the handshake has ended nobody is told
        client.send(INITIALIZED)
        await client.ask({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        server.runtime.changes.publish(TOOLS, PROMPTS)
        assert (await client.receive())["method"] == "notifications/tools/list_changed"
        assert (await client.ask({"jsonrpc": "2.0", "id": 2, "method": "ping"}))["id"] == 2


async def test_on_stdio_a_client_of_the_2025_era_subscribes_to_resources() -> None:
    async with talking(**OFFER) as server, piped(ServerView(server.runtime)) as client:
        await client.ask(INITIALIZE)
        client.send(INITIALIZED)
        subscribe = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": ONE.uri}}
        assert (await client.ask(subscribe))["result"] == {}
        server.runtime.changes.publish(OTHER, ONE)
        assert (await client.receive())["params"] == {"uri": ONE.uri}


async def test_on_stdio_a_modern_client_listens_under_the_id_that_it_chose() -> None:
    listen = {
        "jsonrpc": "2.0",
        "id": "mine",
        "method": "subscriptions/listen",
        "params": {"_meta": MODERN_META, "notifications": {"toolsListChanged": True}},
    }
    async with talking(**OFFER) as server, piped(ServerView(server.runtime)) as client:
        acknowledged = await client.ask(listen)
        server.runtime.changes.publish(ONE, TOOLS)
        told = await client.receive()
    assert acknowledged["params"]["_meta"] == told["params"]["_meta"] == {KEY: "mine"}
    assert told["method"] == "notifications/tools/list_changed"


@pytest.mark.requirement("I4.3.3")
async def test_on_stdio_a_tool_reports_asks_and_is_cancelled() -> None:
    ended = anyio.Event()

    async def ask(_arguments: Mapping[str, Any], context: Context) -> Any:
        await context.client.progress(1)
        try:
            return (await context.client.ask({"who": Question("elicitation", {"message": "?"})}))["who"]
        finally:
            ended.set()

    async with talking(tool("ask", ask)) as server, piped(ServerView(server.runtime)) as client:
        initialize = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": {"elicitation": {}}}}
        await client.ask(initialize)
        client.send(INITIALIZED)
        params = {"name": "ask", "_meta": {"progressToken": "p"}}
        for request_id in (1, 2):
            progress = await client.ask(
                {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
            )
            assert progress["params"] == {"progressToken": "p", "progress": 1}
            question = await client.receive()
            assert question["method"] == "elicitation/create"
            if request_id == 1:
                answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
                assert (await client.ask(answer))["result"]["structuredContent"] == {"action": "decline"}
                ended = anyio.Event()
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
        client.send({"jsonrpc": "2.0", **cancel})
        with anyio.fail_after(BOUND_S):
            await ended.wait()
