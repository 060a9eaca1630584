"""Sessions of the 2025 era: how many, how long, whose; light at first, the SDK's when they need it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.asgi import Client, Reply
from tests.support.served import INITIALIZE, INITIALIZED, call, write_config
from tests.support.waiting import BOUND_S
from toolspan_server import load_config, running
from toolspan_server.http_server.auth import Auth, hashed
from toolspan_server.http_server.auth._principal import Principal
from toolspan_server.http_server.guard import Access
from toolspan_server.protocol.http import call_runner
from toolspan_server.protocol.http.app import Application
from toolspan_server.protocol.http.sdk.transport import SdkSession
from toolspan_server.protocol.http.sessions import LEAST_IDLE_S, Sessions, TooManySessions

pytestmark = pytest.mark.anyio
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CANCELLED = -32800
HANDED = {"unknown": 1}
"""Makes a call one that is not plain, so that the SDK gets it."""


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_session_is_found_by_its_id_and_by_its_principal_only() -> None:
    sessions = Sessions(10, 60)
    mine = sessions.open("2025-11-25", b"{}", b"Bearer a")
    assert sessions.find(mine.id, b"Bearer a") is mine
    assert sessions.find(mine.id, b"Bearer b") is None
    assert sessions.find(mine.id, None) is None
    assert sessions.find(b"0" * 32, b"Bearer a") is None
    sessions.forget(mine)
    assert sessions.find(mine.id, b"Bearer a") is None


def test_ids_are_long_and_never_the_same() -> None:
    sessions = Sessions(1000, 60)
    ids = {sessions.open("2025-11-25", b"", None).id for _ in range(1000)}
    assert len(ids) == 1000
    assert min(map(len, ids)) >= 32


@pytest.mark.requirement("I3.5.1")
def test_a_full_table_refuses_by_the_name_of_its_limit() -> None:
    sessions = Sessions(2, 60)
    first = sessions.open("2025-11-25", b"", None)
    sessions.open("2025-11-25", b"", None)
    with pytest.raises(TooManySessions, match=r"limits\.sessions is 2"):
        sessions.open("2025-11-25", b"", None)
    sessions.forget(first)
    sessions.open("2025-11-25", b"", None)


@pytest.mark.requirement("I9.3.26")
def test_a_session_that_has_asked_nothing_makes_room_first_the_oldest_of_them() -> None:
    sessions = Sessions(4, 1_800, Clock())
    used, first, second, streaming = (sessions.open("2025-11-25", b"", None) for _ in range(4))
    used.asked = True
    with sessions.used(streaming):
        assert [sessions.spare(), sessions.spare(), sessions.spare()] == [first, second, None]
    assert sessions.find(used.id, None) is used
    assert sessions.find(first.id, None) is None


@pytest.mark.requirement("I9.3.26")
def test_then_whoever_has_most_gives_the_session_that_is_idle_for_the_longest() -> None:
    clock = Clock()
    sessions = Sessions(4, 1_800, clock)
    ann, *bobs = (sessions.open("2025-11-25", b"", who) for who in (b"ann", b"bob", b"bob", b"bob"))
    for session in (ann, *bobs):
        session.asked = True
    clock.now = LEAST_IDLE_S - 1
    assert sessions.spare() is None
    with sessions.used(bobs[0]):
        clock.now = LEAST_IDLE_S + 1
    assert sessions.spare() is bobs[1]
    assert sessions.find(ann.id, b"ann") is ann


@pytest.mark.requirement("I9.3.26")
async def test_abandoned_openings_keep_nobody_out_and_live_sessions_stay(tmp_path: Path) -> None:
    async with served(tmp_path, sessions=5) as client:
        live = await opened(client)
        assert (await post(client, call(1, "echo", {"value": 1}), live)).status == 200
        for _ in range(20):
            await opened(client)
        late = await opened(client)
        assert (await post(client, call(1, "echo", {"value": 1}), late)).status == 200
        assert (await post(client, call(2, "echo", {"value": 1}), live)).status == 200


def test_a_session_that_nobody_uses_is_over_and_one_in_use_is_not() -> None:
    clock = Clock()
    sessions = Sessions(10, 60, clock)
    unused, streaming, used = (sessions.open("2025-11-25", b"", None) for _ in range(3))
    stream = sessions.used(streaming)
    stream.__enter__()
    clock.now = 50
    with sessions.used(used):
        pass
    clock.now = 70
    assert sessions.find(unused.id, None) is None
    assert sessions.take_over() == [unused]
    assert sessions.find(used.id, None) is used
    assert sessions.find(streaming.id, None) is streaming
    clock.now = 120
    stream.__exit__(None, None, None)
    assert sessions.take_over() == [used]
    clock.now = 200
    assert sessions.take_over() == [streaming]
    assert len(sessions) == 0


@asynccontextmanager
async def served(folder: Path, access: Access | None = None, **limits: Any) -> AsyncIterator[Client]:
    config = load_config(write_config(folder, "wait", "meta", limits=limits))
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        application = Application(runtime, access or Access(), helpers)
        yield Client(application.app)
        application.close()
        helpers.cancel_scope.cancel()


async def opened(client: Client, **headers: str) -> dict[str, str]:
    """Open a session; the headers of its requests."""
    reply = await client.ask("POST", json.dumps(INITIALIZE).encode(), {**ACCEPT, **headers})
    assert reply.status == 200
    session = {**ACCEPT, **headers, "mcp-session-id": reply.headers["mcp-session-id"]}
    assert (await post(client, INITIALIZED, session)).status == 202
    return session


async def post(client: Client, message: Any, headers: dict[str, str], **more: Any) -> Reply:
    return await client.ask("POST", json.dumps(message).encode(), headers, **more)


async def started(folder: Path, note: str) -> None:
    with anyio.fail_after(BOUND_S):
        while not (folder / f"{note}.started").exists():  # noqa: ASYNC110  # a file tells, not an event
            await anyio.sleep(0.005)


def waiting(request_id: int | str, note: str, **more: Any) -> dict[str, Any]:
    return call(request_id, "wait", {"seconds": 60, "note": note}, **more)


@pytest.mark.requirement("I3.5.1")
async def test_the_cap_on_sessions_is_503_and_live_ones_go_on(tmp_path: Path) -> None:
    async with served(tmp_path, sessions=2) as client:
        session, other = await opened(client), await opened(client)
        for each in (session, other):
            assert (await post(client, PING, each)).status == 200
        refused = await post(client, INITIALIZE, ACCEPT)
        assert refused.status == 503
        assert "limits.sessions is 2" in refused.message["error"]["message"]
        assert (await post(client, PING, session)).message["result"] == {}
        assert (await client.ask("DELETE", b"", session)).status == 200
        await opened(client)


@pytest.mark.requirement("I3.5.1")
async def test_every_session_that_is_not_ones_own_is_the_same_404(tmp_path: Path) -> None:
    auth = Auth({hashed(f"t0ken-{name}".encode()): Principal(name.encode()) for name in ("ann", "bob")})
    async with served(tmp_path, Access(auth=auth), session_idle_seconds=1) as client:
        headers = {"authorization": "Bearer t0ken-ann"}
        ended, others = await opened(client, **headers), await opened(client, **headers)
        await client.ask("DELETE", b"", ended)
        guessed = {**others, "mcp-session-id": "A" * 32}
        another_principal = {**others, "authorization": "Bearer t0ken-bob"}
        replies = [await post(client, PING, each) for each in (ended, guessed, another_principal)]
        assert {(each.status, each.body) for each in replies} == {(404, replies[0].body)}
        assert (await post(client, PING, others)).status == 200


async def test_an_opening_message_of_more_than_64_kib_is_refused(tmp_path: Path) -> None:
    params = {**INITIALIZE["params"], "clientInfo": {"name": "x" * 70_000, "version": "1"}}
    async with served(tmp_path) as client:
        assert (await post(client, {**INITIALIZE, "params": params}, ACCEPT)).status == 413


@pytest.mark.requirement("I3.2.2")
@pytest.mark.parametrize("first", ["plain", "handed"])
@pytest.mark.parametrize("second", ["plain", "handed"])
async def test_an_id_that_is_still_running_is_refused_and_the_first_goes_on(
    tmp_path: Path, first: str, second: str
) -> None:
    meta = {"plain": {}, "handed": HANDED}
    async with served(tmp_path) as client, anyio.create_task_group() as group:
        session, reply = await opened(client), Reply()

        async def ask_first() -> None:
            await post(client, waiting(5, "first", **meta[first]), session, reply=reply)

        group.start_soon(ask_first)
        await started(tmp_path, "first")
        refused = await post(client, waiting(5, "second", **meta[second]), session)
        assert (refused.status, refused.message["id"]) == (400, 5)
        assert (refused.message["error"]["code"], "still running" in str(refused.message)) == (-32600, True)
        assert not (tmp_path / "second.started").exists()
        await cancel(client, session, 5)
        with anyio.fail_after(BOUND_S):
            await reply.ended.wait()
        assert reply.message["id"] == 5
        assert (await post(client, call(5, "add"), session)).status == 200


@pytest.mark.requirement("I3.2.2")
@pytest.mark.parametrize("first", ["plain", "handed"])
async def test_the_ids_5_and_text_5_are_two(tmp_path: Path, first: str) -> None:
    meta = {} if first == "plain" else HANDED
    async with served(tmp_path) as client, anyio.create_task_group() as group:
        session, reply = await opened(client), Reply()

        async def ask_first() -> None:
            await post(client, waiting(5, "number", **meta), session, reply=reply)

        group.start_soon(ask_first)
        await started(tmp_path, "number")
        assert (await post(client, call("5", "add"), session)).message["id"] == "5"
        handed = await post(client, call("5", "add", **HANDED), session)
        assert handed.message["id"] == "5"
        assert ("result" in handed.message) == (first == "plain")
        await cancel(client, session, 5)
        with anyio.fail_after(BOUND_S):
            await reply.ended.wait()
        assert reply.message["id"] == 5


async def cancel(client: Client, session: dict[str, str], request_id: Any) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
    assert (await post(client, message, session)).status == 202


@pytest.mark.requirement("I3.2.2", "I3.3.1")
@pytest.mark.parametrize("way", ["plain", "handed"])
async def test_a_cancelled_call_ends_with_the_sdks_answer_and_its_work_stops(
    tmp_path: Path, way: str
) -> None:
    meta = {} if way == "plain" else HANDED
    async with served(tmp_path) as client, anyio.create_task_group() as group:
        session, reply = await opened(client), Reply()

        async def ask() -> None:
            await post(client, waiting("a", "work", **meta), session, reply=reply)

        group.start_soon(ask)
        await started(tmp_path, "work")
        for other in ("b", {}, None, 5):
            await cancel(client, session, other)
        assert not reply.ended.is_set()
        await cancel(client, session, "a")
        with anyio.fail_after(BOUND_S):
            await reply.ended.wait()
        assert (reply.kind, reply.message["id"]) == ("stream", "a")
        assert reply.message["error"] == {"code": CANCELLED, "message": "Request cancelled"}
        assert (tmp_path / "work").exists()
        await cancel(client, session, "a")


@pytest.mark.requirement("I3.2.2")
async def test_a_client_that_leaves_does_not_end_its_call_of_the_2025_era(tmp_path: Path) -> None:
    async with served(tmp_path) as client, anyio.create_task_group() as group:
        session, gone, reply = await opened(client), anyio.Event(), Reply()

        async def ask() -> None:
            brief = call(1, "wait", {"seconds": 0.2, "note": "left"})
            await post(client, brief, session, reply=reply, gone=gone)

        group.start_soon(ask)
        await started(tmp_path, "left")
        gone.set()
        with anyio.fail_after(BOUND_S):
            await reply.ended.wait()
        assert reply.message["result"]["content"][0]["text"] == "waited"
        assert not (tmp_path / "left").exists()


@pytest.mark.requirement("I3.3.1")
async def test_a_session_that_the_sdk_takes_over_is_still_one_session(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        session = await opened(client)
        plain = await post(client, call(1, "echo", {"value": 1}), session)
        assert plain.kind == "json"
        handed = await post(client, call(2, "echo", {"value": 2}, **HANDED), session)
        assert handed.kind == "stream"
        again = await post(client, call(3, "echo", {"value": 3}), session)
        assert again.kind == "json"
        assert [each.message["result"]["structuredContent"] for each in (plain, handed, again)] == [
            {"result": 1},
            {"result": 2},
            {"result": 3},
        ]
        assert (await client.ask("DELETE", b"", session)).status == 200
        assert (await post(client, call(4, "echo", **HANDED), session)).status == 404


@pytest.mark.requirement("I3.3.1")
@pytest.mark.parametrize("initialized", [True, False])
async def test_the_sdk_is_told_of_the_handshake_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, initialized: bool
) -> None:
    told: list[Any] = []
    post_message = SdkSession.post

    async def noted(self: SdkSession, body: bytes) -> Any:
        told.append(json.loads(body))
        return await post_message(self, body)

    monkeypatch.setattr(SdkSession, "post", noted)
    async with served(tmp_path) as client:
        reply = await post(client, INITIALIZE, ACCEPT)
        session = {**ACCEPT, "mcp-session-id": reply.headers["mcp-session-id"]}
        if initialized:
            await post(client, INITIALIZED, session)
        await post(client, call(1, "add", **HANDED), session)
        await post(client, call(2, "add", **HANDED), session)
    assert told == ([INITIALIZE, INITIALIZED] if initialized else [INITIALIZE])


@pytest.mark.requirement("I3.3.1")
@pytest.mark.cold
async def test_many_requests_that_need_the_sdk_at_once_make_one_session_of_it(tmp_path: Path) -> None:
    async with served(tmp_path) as client, anyio.create_task_group() as group:
        session, replies = await opened(client), [Reply() for _ in range(10)]
        for number, reply in enumerate(replies):
            message = call(number, "echo", {"value": number}, **HANDED)

            async def ask(message: Any = message, reply: Reply = reply) -> None:
                await post(client, message, session, reply=reply)

            group.start_soon(ask)
        for number, reply in enumerate(replies):
            with anyio.fail_after(BOUND_S):
                await reply.ended.wait()
            assert reply.message["result"]["structuredContent"] == {"result": number}


@pytest.mark.requirement("I3.3.1")
async def test_a_stream_of_a_session_stays_open_until_the_session_ends(tmp_path: Path) -> None:
    async with served(tmp_path) as client, anyio.create_task_group() as group:
        session, stream = await opened(client), Reply()

        async def listen() -> None:
            await client.ask("GET", b"", session, reply=stream)

        group.start_soon(listen)
        with anyio.fail_after(BOUND_S):
            await stream.started.wait()
        assert (stream.status, stream.kind) == (200, "stream")
        assert (await client.ask("GET", b"", session)).status == 409
        assert (await post(client, call(1, "add"), session)).kind == "json"
        await client.ask("DELETE", b"", session)
        with anyio.fail_after(BOUND_S):
            await stream.ended.wait()


@pytest.mark.requirement("I3.3.1")
async def test_an_opening_that_is_not_plain_is_the_sdks_and_then_as_light_as_any(tmp_path: Path) -> None:
    params = {**INITIALIZE["params"], "capabilities": {"sampling": {"tools": {}}, "x": 1}}
    async with served(tmp_path) as client:
        reply = await post(client, {**INITIALIZE, "params": params}, ACCEPT)
        assert reply.message["result"]["protocolVersion"] == "2025-11-25"
        session = {**ACCEPT, "mcp-session-id": reply.headers["mcp-session-id"]}
        assert (await post(client, INITIALIZED, session)).status == 202
        assert (await post(client, call(1, "add"), session)).kind == "json"
        assert (await post(client, call(2, "add", **HANDED), session)).kind == "stream"


async def test_a_session_that_is_opened_again_is_the_sdks_from_then_on(tmp_path: Path) -> None:
    params = {**INITIALIZE["params"], "protocolVersion": "2025-03-26"}
    async with served(tmp_path) as client:
        session = await opened(client)
        again = await post(client, {**INITIALIZE, "params": params}, session)
        assert again.message["result"]["protocolVersion"] == "2025-03-26"
        answer = await post(client, call(1, "add"), session)
        assert "structuredContent" not in answer.message["result"]


@pytest.mark.requirement("I3.2.2")
async def test_calls_that_still_run_when_their_session_ends_are_told_so(tmp_path: Path) -> None:
    async with served(tmp_path) as client, anyio.create_task_group() as group:
        session, reply = await opened(client), Reply()

        async def ask() -> None:
            await post(client, waiting(1, "cut"), session, reply=reply)

        group.start_soon(ask)
        await started(tmp_path, "cut")
        assert (await client.ask("DELETE", b"", session)).status == 200
        with anyio.fail_after(BOUND_S):
            await reply.ended.wait()
        assert (reply.status, reply.message["id"]) == (404, 1)
        assert (tmp_path / "cut").exists()


@pytest.mark.requirement("I3.2.2")
@pytest.mark.parametrize("era", ["modern", "session"])
async def test_an_answer_that_takes_long_becomes_a_stream_with_pings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: str
) -> None:
    monkeypatch.setattr(call_runner, "QUIET_S", 0.01)
    async with served(tmp_path) as client:
        message = call(1, "wait", {"seconds": 0.1, "note": era})
        if era == "session":
            reply = await post(client, message, await opened(client))
        else:
            headers = {**ACCEPT, "mcp-protocol-version": "2025-06-18"}
            reply = await post(client, message, headers)
    assert (reply.status, reply.kind) == (200, "stream")
    assert reply.body.startswith(b": ping\r\n\r\n")
    assert reply.message["result"]["content"][0]["text"] == "waited"


async def test_more_calls_than_may_wait_are_503(tmp_path: Path) -> None:
    async with served(tmp_path, concurrent_calls=1, queued_calls=1) as client:
        session = await opened(client)
        async with anyio.create_task_group() as group:
            for number in range(2):
                group.start_soon(post, client, waiting(number, f"busy{number}"), session)
                await anyio.wait_all_tasks_blocked()
            refused = await post(client, call(7, "add"), session)
            assert (refused.status, refused.message["id"]) == (503, 7)
            assert "limits.concurrent_calls" in refused.message["error"]["message"]
            handed = await post(client, call(8, "add", **HANDED), session)
            assert "limits.queued_calls" in handed.message["error"]["message"]
            await client.ask("DELETE", b"", session)
