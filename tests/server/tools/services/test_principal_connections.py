"""Each principal has a connection of its own to an upstream that takes tokens by exchange."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anyio.lowlevel
import pytest

from tests.support.answering import answering
from tests.support.failing_work import fail_once
from tests.support.mcp_peers import asker_over_sse
from tests.support.upstreams import FakeClient, served
from tests.support.waiting import BOUND_S, until
from toolspan_server.calls.caller import Origin
from toolspan_server.calls.context import Context
from toolspan_server.common import supervision
from toolspan_server.engines.upstreams import ServerSpec
from toolspan_server.live.runtime import Runtime
from toolspan_server.tools.services import _principal_connections
from toolspan_server.tools.services._client_relay import ClientRelay
from toolspan_server.tools.services._principal_connections import PrincipalConnections
from toolspan_server.tools.services._upstream_config import UpstreamConfig

pytestmark = [pytest.mark.anyio]


class Bank:
    """An upstream that speaks 2026-07-28, its token endpoint, and what both saw."""

    def __init__(self) -> None:
        self.url = ""
        self.exchanged: list[str] = []
        self.seen: list[tuple[str, str]] = []
        self.tools: list[dict[str, Any]] = [{"name": "pay", "inputSchema": {"type": "object"}}]
        self.regions: list[str | None] = []

    def __call__(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        plain = {"content-type": "application/json"}
        if request.path == "/token":
            subject = parse_qs(body.decode())["subject_token"][0]
            self.exchanged.append(subject)
            return 200, plain, json.dumps({"access_token": f"theirs-of-{subject}"}).encode()
        message = json.loads(body)
        self.seen.append((message["method"], request.headers["authorization"]))
        if message["method"] == "tools/call":
            self.regions.append(request.headers["mcp-param-region"])
        answer = {"jsonrpc": "2.0", "id": message["id"], **self._answer(message)}
        return 200, plain, json.dumps(answer).encode()

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        info = {"name": "bank", "version": "1"}
        discovered = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": info}
        known = {
            "server/discover": {**hints, **discovered},
            "tools/list": {**hints, "tools": self.tools},
            "tools/call": {"resultType": "complete", "content": [{"type": "text", "text": "paid"}]},
        }
        if message["method"] not in known:
            return {"error": {"code": -32601, "message": "Method not found"}}
        return {"result": known[message["method"]]}

    @property
    def calls(self) -> list[str]:
        """The authorization of each call."""
        return [authorization for method, authorization in self.seen if method == "tools/call"]


@pytest.fixture
def bank() -> Iterator[Bank]:
    made = Bank()
    with answering(made) as made.url:
        yield made


def entry(bank: Bank, **more: Any) -> dict[str, Any]:
    """The upstream as the config has it."""
    exchange = {"token_url": f"{bank.url}/token", "client_id": "hub"}
    listing = {"headers": {"Authorization": "Bearer service"}}
    return {
        "url": f"{bank.url}/mcp",
        **listing,
        "token_exchange": exchange,
        "connect_seconds": BOUND_S,
        **more,
    }


def coming_from(name: str, token: str = "") -> Origin:
    """Where a call of the principal, with the token, comes from."""
    bearer = f"Bearer {token or 'token-of-' + name}".encode()
    return Origin(f'["oauth", "issuer", "{name}"]', authorization=bearer)


@asynccontextmanager
async def connections(
    bank: Bank, idle_seconds: float = BOUND_S, *, needs_tools: bool = False
) -> AsyncGenerator[PrincipalConnections]:
    spec = ServerSpec("bank", kind="http", url=f"{bank.url}/mcp")
    config = UpstreamConfig.model_validate(entry(bank))
    known = PrincipalConnections(
        spec, config, lambda: ClientRelay("bank", frozenset()), lambda: needs_tools, idle_seconds
    )
    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(known.run)
            await anyio.lowlevel.checkpoint()
            yield known
            tasks.cancel_scope.cancel()


@pytest.mark.requirement("I15.4.36")
async def test_each_call_is_made_with_what_its_own_token_is_exchanged_for(tmp_path: Path, bank: Bank) -> None:
    async def called(runtime: Runtime, token: str) -> None:
        assert (await runtime.execute("pay", None, coming_from("ann", token))).success

    async with served(tmp_path, {"bank": entry(bank)}) as runtime:
        async with anyio.create_task_group() as at_once:
            at_once.start_soon(called, runtime, "narrow")
            at_once.start_soon(called, runtime, "broad")
        assert sorted(bank.calls) == ["Bearer theirs-of-broad", "Bearer theirs-of-narrow"]
        for token in ("narrow", "broad", "narrow", "broad"):
            await called(runtime, token)
    assert bank.calls[2:] == [f"Bearer theirs-of-{token}" for token in ("narrow", "broad", "narrow", "broad")]
    assert sorted(bank.exchanged) == ["broad", "narrow"]


@pytest.mark.long
@pytest.mark.requirement("I15.4.37")
async def test_what_an_upstream_asks_on_one_stream_for_all_calls_goes_to_the_principal_of_that_stream(
    tmp_path: Path, bank: Bank
) -> None:
    class Waiting(FakeClient):
        def __init__(self, name: str) -> None:
            super().__init__({"elicitation": {"action": "accept", "content": {"city": name}}})

        async def ask(self, questions: Any) -> dict[str, Any]:
            answers = await super().ask(questions)
            if all(client.asked for client in clients.values()):
                both.set()
            await both.wait()
            return answers

    clients, both = {name: Waiting(name) for name in ("ann", "bob")}, anyio.Event()
    results: dict[str, Any] = {}

    async def called(runtime: Runtime, name: str) -> None:
        context = Context(coming_from(name), client=clients[name])
        results[name] = await runtime.execute("ask", {"what": f"for {name}"}, context)

    with asker_over_sse() as url:
        upstream = {**entry(bank), "url": url, "type": "sse"}
        async with served(tmp_path, {"asker": upstream}) as runtime:
            for _ in range(2):
                async with anyio.create_task_group() as tasks:
                    for name in clients:
                        tasks.start_soon(called, runtime, name)
    for name, client in clients.items():
        assert [question.params["message"] for question in client.asked] == [f"for {name}"] * 2
        assert json.loads(results[name].result) == [f"for {name}", client.answers["elicitation"]]


@pytest.mark.requirement("I15.4.38")
async def test_a_principal_whose_connection_was_lost_is_connected_again_at_its_next_call(bank: Bank) -> None:
    async with connections(bank) as known:
        first = await known.of_caller(coming_from("ann"))
        first.stop()
        await until(lambda: not first.is_up)
        second = await known.of_caller(coming_from("ann"))
        assert second is not first and second.is_up
        await second.call("pay", {})
    assert bank.calls == ["Bearer theirs-of-token-of-ann"]


@pytest.mark.requirement("I15.4.39")
async def test_connections_that_nobody_uses_are_ended_and_made_again_when_they_are(bank: Bank) -> None:
    async with connections(bank, idle_seconds=0.02) as known:
        used = await known.of_caller(coming_from("ann"))
        await until(lambda: len(known) == 0 and not used.is_up)
        assert (await known.of_caller(coming_from("ann"))) is not used


@pytest.mark.long
@pytest.mark.requirement("I15.4.39")
async def test_beyond_the_most_principals_an_idle_one_makes_room_and_none_with_a_call_does(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_principal_connections, "MOST_CONNECTIONS", 2)
    waits, both = FakeClient({"elicitation": {"action": "accept", "content": {"city": "x"}}}), anyio.Event()

    class Held(FakeClient):
        async def ask(self, questions: Any) -> dict[str, Any]:
            self.asked += questions.values()
            await both.wait()
            return dict.fromkeys(questions, self.answers["elicitation"])

    held = {name: Held(waits.answers) for name in ("ann", "bob")}
    done: list[bool] = []

    async def called(runtime: Runtime, name: str) -> None:
        context = Context(coming_from(name), client=held[name])
        done.append((await runtime.execute("ask", {"what": "?"}, context)).success)

    with asker_over_sse() as url:
        upstream = {**entry(bank), "url": url, "type": "sse"}
        async with served(tmp_path, {"asker": upstream}) as runtime, anyio.create_task_group() as tasks:
            eve = Context(coming_from("eve"), client=waits)
            first = await runtime.execute("ask", {"what": "?"}, eve)
            assert first.success, first.error
            for name in held:
                tasks.start_soon(called, runtime, name)
            await until(lambda: all(client.asked for client in held.values()))
            refused = await runtime.execute("ask", {"what": "?"}, eve)
            assert refused.error_code == "upstream_unavailable" and "2 principals" in refused.error
            both.set()
    assert done == [True, True]


@pytest.mark.requirement("I15.4.39")
@pytest.mark.parametrize("needed", [True, False])
async def test_a_connection_of_a_principal_keeps_no_tools_and_reads_them_only_where_calls_need_that(
    bank: Bank, needed: bool
) -> None:
    bank.tools = [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(500)]
    async with connections(bank, needs_tools=needed) as known:
        assert (await known.of_caller(coming_from("ann"))).tools == ()
    assert ("tools/list" in [method for method, _ in bank.seen]) is needed


@pytest.mark.requirement("I15.4.39")
@pytest.mark.parametrize("header", [True, False])
async def test_tools_whose_arguments_are_headers_are_read_for_each_principal(
    tmp_path: Path, bank: Bank, header: bool
) -> None:
    region = {"type": "string", **({"x-mcp-header": "Region"} if header else {})}
    bank.tools[0]["inputSchema"]["properties"] = {"region": region}
    async with served(tmp_path, {"bank": entry(bank)}) as runtime:
        assert (await runtime.execute("pay", {"region": "north"}, coming_from("ann"))).success
    listed = [method for method, authorization in bank.seen if "theirs" in authorization]
    assert ("tools/list" in listed) is header
    assert bank.regions == (["north"] if header else [None])


@pytest.mark.requirement("I24.4.1")
async def test_background_work_of_principals_that_fails_is_told_counted_and_begun_again(
    tmp_path: Path, bank: Bank, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    names = ["connections of principals", "a principal's connection to an upstream"]
    before = dict(supervision.failures())
    fail_once(monkeypatch)
    async with served(tmp_path, {"bank": entry(bank)}) as runtime:

        async def is_paid() -> bool:
            return (await runtime.execute("pay", None, coming_from("ann"))).success

        with anyio.fail_after(BOUND_S):
            while not await is_paid():  # noqa: ASYNC110 - the server goes on by itself
                await anyio.sleep(0.01)
    for name in names:
        assert supervision.failures()[name] == before.get(name, 0) + 1
        assert f"the background work {name!r} failed" in caplog.text
    assert bank.calls == ["Bearer theirs-of-token-of-ann"]
