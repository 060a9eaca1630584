"""Sessions of foreign servers: begun the old way, lost and opened again, refused in the server's words."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.http_api import Api, Seen, data, response, serving
from tests.support.upstreams import raw, served
from toolspan_server.calls.caller import LOCAL

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I26.4.1")]

UNKNOWN = "Bad Request: No valid session ID provided"


class Forgetful:
    """A server over Streamable HTTP of 2025-06-18 that forgets each session after ``calls`` calls of its
    tool, and answers then with ``status`` and ``body``."""

    def __init__(self, status: int, body: Any, calls: int = 1) -> None:
        self._status, self._body, self._calls = status, body, calls
        self._sessions: dict[str, int] = {}
        self.opened = self.carried_out = 0

    def __call__(self, seen: Seen) -> bytes:
        if seen.method != "POST":
            return response(status=405)
        message = seen.json
        method, request_id = message["method"], message.get("id")
        if method == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            return data({"jsonrpc": "2.0", "id": request_id, "error": error})
        if method == "initialize":
            self.opened += 1
            name = f"s{self.opened}"
            self._sessions[name] = self._calls
            info = {"name": "f", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            answer = {"jsonrpc": "2.0", "id": request_id, "result": result}
            return data(answer, Mcp_Session_Id=name)
        session = seen.headers.get("mcp-session-id", "")
        if not self._sessions.get(session):
            body = self._body if isinstance(self._body, str) else json.dumps(self._body)
            return response(body, self._status, Content_Type="application/json")
        if request_id is None:
            return response(status=202)
        result: dict[str, Any] = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
        if method == "tools/call":
            self._sessions[session] -= 1
            self.carried_out += 1
            result = {"content": [{"type": "text", "text": f"done {self.carried_out}"}]}
        return data({"jsonrpc": "2.0", "id": request_id, "result": result})


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with serving() as api:
        yield api


def error(request_id: int | None = None, message: str = UNKNOWN) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32000, "message": message}}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, ""),
        (404, error()),
        (404, "Session not found"),
        (400, error()),
        (400, error(message="Invalid session")),
    ],
    ids=str,
)
async def test_a_session_that_is_gone_is_opened_again_and_the_call_made_once_more(
    api: Api, tmp_path: Path, status: int, body: Any
) -> None:
    server = api.reply = Forgetful(status, body)
    async with served(tmp_path, {"f": {"type": "http", "url": f"{api.url}/mcp"}}) as runtime:
        for number in range(1, 4):
            result = await runtime.execute("t", {}, LOCAL)
            assert result.result == f"done {number}", result.error
    assert (server.carried_out, server.opened) == (3, 3)


async def test_calls_beside_each_other_are_each_carried_out_once(api: Api, tmp_path: Path) -> None:
    server = api.reply = Forgetful(404, "", calls=3)
    results: list[Any] = []
    async with served(tmp_path, {"f": {"type": "http", "url": f"{api.url}/mcp"}}) as runtime:

        async def call() -> None:
            results.append((await runtime.execute("t", {}, LOCAL)).result)

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(call)
        await call()
    assert sorted(results) == ["done 1", "done 2", "done 3", "done 4"] and server.opened == 2


async def test_a_server_that_knows_no_session_at_all_is_asked_twice_and_no_more(
    api: Api, tmp_path: Path
) -> None:
    server = api.reply = Forgetful(404, "", calls=1)
    async with served(tmp_path, {"f": {"type": "http", "url": f"{api.url}/mcp"}}) as runtime:
        await runtime.execute("t", {}, LOCAL)
        server._calls = 0
        result = await runtime.execute("t", {}, LOCAL)
    assert result.error_code == "upstream_unavailable" and server.carried_out == 1


async def test_a_400_about_something_else_is_the_answer_of_that_call(api: Api, tmp_path: Path) -> None:
    server = api.reply = Forgetful(400, error(message="Bad Request: no such city"))
    async with served(tmp_path, {"f": {"type": "http", "url": f"{api.url}/mcp"}}) as runtime:
        await runtime.execute("t", {}, LOCAL)
        result = await runtime.execute("t", {}, LOCAL)
    assert not result.success and server.opened == 1


async def test_a_server_that_ends_at_the_discovery_is_started_again_the_old_way(tmp_path: Path) -> None:
    async with served(tmp_path, {"raw": raw("ends_at_discovery")}) as runtime:
        assert (await runtime.execute("two_texts", {}, LOCAL)).success


async def test_a_refused_handshake_is_told_in_the_servers_words(tmp_path: Path) -> None:
    async with served(tmp_path, {"raw": raw("refuses")}) as runtime:
        (source,) = runtime.health()["sources"]
    assert "no licence: set ACME_KEY" in source["error"]
