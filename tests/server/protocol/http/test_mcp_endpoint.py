"""``/mcp`` in both eras: who answers, who may leave, and that nothing fails without words."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.support.asgi import Client, Reply
from tests.support.processes import processor_seconds
from tests.support.raw_http import RawClient, request, tool_call
from tests.support.served import BOUND_S, INITIALIZE, MODERN_META, call, http_server, tool, write_config
from toolspan_server import load_config, running
from toolspan_server.http_server.guard import Access
from toolspan_server.protocol.fast_path import FastPath
from toolspan_server.protocol.http import call_runner
from toolspan_server.protocol.http.app import Application

pytestmark = pytest.mark.anyio
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
SDK = ["mcp", "mcp_types", "starlette", "sse_starlette"]


@asynccontextmanager
async def application(folder: Path, *handlers: str, **more: Any) -> AsyncIterator[Application]:
    config = load_config(write_config(folder, *handlers, **more))
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        made = Application(runtime, Access(), helpers)
        yield made
        made.close()
        helpers.cancel_scope.cancel()


def modern(
    name: str, arguments: Any = None, request_id: Any = 1, **more: Any
) -> tuple[bytes, dict[str, str]]:
    message = call(request_id, name, arguments or {}, _meta=MODERN_META, **more)
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name}
    return json.dumps(message).encode(), {**ACCEPT, **headers}


async def started(folder: Path, note: str) -> None:
    with anyio.fail_after(BOUND_S):
        while not (folder / f"{note}.started").exists():  # noqa: ASYNC110  # a file tells, not an event
            await anyio.sleep(0.005)


@pytest.mark.requirement("I3.2.2")
@pytest.mark.parametrize("way", ["JSON", "a stream", "the SDK's"])
async def test_a_modern_client_that_leaves_ends_its_call_however_it_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "a stream":
        monkeypatch.setattr(call_runner, "QUIET_S", 0.0)
    more = {"unknown": 1} if way == "the SDK's" else {}
    async with application(tmp_path, "wait") as made, anyio.create_task_group() as group:
        gone, reply = anyio.Event(), Reply()
        body, headers = modern("wait", {"seconds": 60, "note": "left"}, **more)

        async def ask() -> None:
            await Client(made.app).ask("POST", body, headers, reply=reply, gone=gone)

        group.start_soon(ask)
        await started(tmp_path, "left")
        if way == "a stream":
            with anyio.fail_after(BOUND_S):
                await reply.started.wait()
        gone.set()
        with anyio.fail_after(BOUND_S):
            while not (tmp_path / "left").exists():  # noqa: ASYNC110  # a file tells, not an event
                await anyio.sleep(0.005)
    assert reply.messages == []


@pytest.mark.requirement("I3.3.1")
@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read from /proc")
@pytest.mark.cold
def test_plain_requests_need_no_sdk_and_its_import_makes_nobody_wait(tmp_path: Path) -> None:
    with (
        http_server(write_config(tmp_path, "imported")) as server,
        httpx2.Client(base_url=server.url, timeout=BOUND_S) as client,
    ):

        def imported(**more: Any) -> Any:
            body, headers = modern("imported", {"names": SDK}, **more)
            return client.post("/mcp", content=body, headers=headers).json()["result"]["structuredContent"]

        opened = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
        for message in (call(1, "add"), {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}):
            assert client.post("/mcp", json=message, headers=session).status_code == 200
        assert imported() == []
        with RawClient(server.address) as importing, RawClient(server.address) as other:
            body, headers = modern("imported", {"names": SDK}, unknown=1)
            importing.send(request("POST", "/mcp", *headers.items(), body=body))
            before, works = processor_seconds(server.process.pid), list[float]()
            while not importing.is_told_anything():
                begun = processor_seconds(server.process.pid)
                assert other.send(tool_call("echo", {"value": 1})).answer().status == 200
                works.append(processor_seconds(server.process.pid) - begun)
            whole = processor_seconds(server.process.pid) - before
            assert importing.answer().message["result"]["structuredContent"] == SDK
        assert max(works) < whole / 2


@pytest.mark.requirement("I3.2.2")
def test_a_result_that_cannot_be_encoded_names_its_field_on_every_way(tmp_path: Path) -> None:
    with (
        http_server(write_config(tmp_path, "odd")) as server,
        httpx2.Client(base_url=server.url, timeout=BOUND_S) as client,
    ):
        answers: list[dict[str, Any]] = []
        for more in ({}, {"unknown": 1}):
            body, headers = modern("odd", **more)
            answers.append(client.post("/mcp", content=body, headers=headers).json())
        single = {**ACCEPT, "mcp-protocol-version": "2025-11-25"}
        answers.append(client.post("/mcp", json=call(1, "odd"), headers=single).json())
        answers.append(over_sse(client, call(1, "odd")))
    for answer in answers:
        assert answer["id"] == 1
        text = json.loads(answer["result"]["content"][0]["text"])["error"]
        assert text == "The tool gave a result in 'rows[1].value' that is NaN, which JSON cannot hold"


@pytest.mark.requirement("I3.2.2")
def test_a_result_with_half_a_surrogate_pair_does_not_end_a_legacy_stream(tmp_path: Path) -> None:
    with (
        http_server(write_config(tmp_path, "surrogate")) as server,
        httpx2.Client(base_url=server.url, timeout=BOUND_S) as client,
    ):
        answer = over_sse(client, call(5, "surrogate"), call(6, "add"))
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (6, "4")


def over_sse(client: httpx2.Client, *messages: dict[str, Any]) -> dict[str, Any]:
    """The answer to the last of ``messages``, over legacy HTTP+SSE."""
    with client.stream("GET", "/sse") as stream:
        events = (line[6:] for line in stream.iter_lines() if line.startswith("data: "))
        endpoint = next(events)
        answer: dict[str, Any] = {}
        for message in (INITIALIZE, *messages):
            assert client.post(endpoint, json=message).status_code == 202
            answer = json.loads(next(events))
        return answer


@pytest.mark.requirement("I3.2.2")
async def test_a_bug_is_an_answer_with_its_id_and_a_traceback_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a secret path")

    monkeypatch.setattr(FastPath, "answer", broken)
    async with application(tmp_path) as made:
        reply = await Client(made.app).ask("POST", *modern("add", request_id="x"))
    assert (reply.status, reply.kind) == (500, "json")
    assert reply.message["id"] == "x"
    assert reply.message["error"] == {"code": -32603, "message": "Internal error"}
    assert "a secret path" in caplog.text


@pytest.mark.requirement("I3.2.2")
@pytest.mark.parametrize("way", ["plain", "handed"])
async def test_calls_that_still_run_at_the_end_are_told_so(tmp_path: Path, way: str) -> None:
    more = {} if way == "plain" else {"unknown": 1}
    async with application(tmp_path, "wait") as made, anyio.create_task_group() as group:
        reply = Reply()
        body, headers = modern("wait", {"seconds": 60, "note": "cut"}, 7, **more)

        async def ask() -> None:
            await Client(made.app).ask("POST", body, headers, reply=reply)

        group.start_soon(ask)
        await started(tmp_path, "cut")
        made.close()
        with anyio.fail_after(BOUND_S):
            await reply.ended.wait()
        assert reply.status == 503
        assert "stopping" in reply.message["error"]["message"]


MIRRORED = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}


@pytest.mark.requirement("I3.3.1")
@pytest.mark.parametrize(
    ("headers", "status"),
    [({"mcp-param-region": "eu"}, 200), ({"mcp-param-region": "us"}, 400), ({}, 400)],
)
async def test_arguments_that_headers_must_repeat_are_held_to_it(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    path = tmp_path / "mirrored.json"
    mirrored = tool("mirrored", {"type": "mock", "mock_response": "ok"}, parameters=MIRRORED)
    path.write_text(json.dumps({"tools": {"registry": [mirrored]}}))
    config = load_config(path)
    async with running(config) as runtime, anyio.create_task_group() as helpers:
        client = Client(Application(runtime, Access(), helpers).app)
        body, own = modern("mirrored", {"region": "eu"})
        reply = await client.ask("POST", body, {**own, **headers})
        helpers.cancel_scope.cancel()
    assert reply.status == status
    assert ("result" in reply.message) == (status == 200)
    if status != 200:
        assert reply.message["error"]["code"] == -32020
