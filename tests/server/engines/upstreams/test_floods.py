"""Upstreams that send without end: they are disconnected, told of, and restarted after growing pauses."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from typing_extensions import override

from tests.support.cost import at_most
from tests.support.mcp_peers import flooder_over_http
from tests.support.upstreams import SERVERS, FakeClient, flooder, raw, served, until
from tests.support.waiting import BOUND_S
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.context import Context
from toolspan_server.common.json_size import MAX_VALUES
from toolspan_server.engines.upstreams import (
    Connection,
    NoResult,
    Restarts,
    ServerGone,
    ServerSpec,
    UpstreamResult,
)
from toolspan_server.engines.upstreams.limits import allowance as limits
from toolspan_server.engines.upstreams.limits.allowance import MAX_REQUEST_BYTES, MAX_REQUESTS, Allowance
from toolspan_server.engines.upstreams.limits.messages import message_of
from toolspan_server.tools.services._ongoing_call import MAX_SAID_BYTES, OngoingCall

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I9.2.9")]

REQUESTS = ("pings", "questions", "elicitations", "unknown", "same_id")
MESSAGES = ("logs", "progress", "changes", "noise", "garbage")
BYTES = ("large_logs", "blank", "endless_line")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BURST_MESSAGES", 500)
    monkeypatch.setattr(limits, "MESSAGES_PER_SECOND", 1.0)
    monkeypatch.setattr(limits, "BURST_BYTES", 8 * 1024 * 1024)
    monkeypatch.setattr(limits, "BYTES_PER_SECOND", 1.0)


async def disconnected(folder: Path, upstream: dict[str, Any]) -> tuple[str, int]:
    """How the call that starts the flood fails, and how many more tasks there are afterwards."""
    async with served(folder, {"flooder": upstream, "other": raw()}) as runtime:
        before = len(asyncio.all_tasks())
        client = FakeClient({"elicitation": {}, "sampling": {}})
        failed = await runtime.execute("flood", {}, Context(LOCAL, client=client))
        assert failed.error_code == "upstream_unavailable"
        assert (await runtime.execute("echo", {}, LOCAL)).success
        return failed.error, len(asyncio.all_tasks()) - before


@pytest.mark.parametrize("what", REQUESTS)
async def test_requests_whose_answers_are_not_read_are_bounded(tmp_path: Path, what: str) -> None:
    error, more_tasks = await disconnected(tmp_path, flooder(what))
    assert f"it was disconnected: more than {MAX_REQUESTS} of its requests were in progress" in error
    assert more_tasks < MAX_REQUESTS


@pytest.mark.parametrize("what", MESSAGES)
@pytest.mark.usefixtures("small")
async def test_messages_that_nobody_asked_for_are_bounded(tmp_path: Path, what: str) -> None:
    error, _ = await disconnected(tmp_path, flooder(what))
    assert "it was disconnected: it sent more than 500 unsolicited messages" in error


@pytest.mark.usefixtures("small")
async def test_answers_to_no_request_fail_the_only_call_and_are_bounded() -> None:
    class Late(Restarts):
        @override
        def pause(self, count: int) -> float:
            return 2 * BOUND_S

    spec = ServerSpec("f", command=(sys.executable, str(SERVERS / "flooder.py"), "answers"))
    connection = Connection(spec, 10, restarts=Late())
    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            await until(lambda: connection.is_up)
            with pytest.raises(NoResult, match=r"server 'f' sent an answer .* not made \(id 1000000\)"):
                await connection.call("flood", {})
            await until(lambda: connection.lost is not None)
            assert connection.lost is not None
            assert "it sent more than 500 unsolicited messages" in connection.lost.reason
            connection.stop()


@pytest.mark.parametrize("what", BYTES)
@pytest.mark.usefixtures("small")
async def test_bytes_that_nobody_asked_for_are_bounded(tmp_path: Path, what: str) -> None:
    error, _ = await disconnected(tmp_path, flooder(what))
    assert "it was disconnected: it sent more than 8 MiB unsolicited" in error


@pytest.mark.usefixtures("small")
async def test_what_is_written_to_stderr_without_end_is_read_and_its_end_is_kept(tmp_path: Path) -> None:
    async with served(tmp_path, {"f": flooder("stderr", "0.2")}, default_timeout_ms=600) as runtime:
        assert (await runtime.execute("flood", None, LOCAL)).error_code == "timeout"
        assert runtime.health()["sources"][0]["state"] == "ready"


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("unknown", f"more than {MAX_REQUESTS} of its requests were in progress"),
        ("logs", "it sent more than 500 unsolicited messages"),
        ("comments", "it sent more than 500 unsolicited messages"),
        ("large", "it sent more than 8 MiB unsolicited"),
        ("drops", "it ended its streams of events more than 30 times in a short while"),
    ],
)
@pytest.mark.usefixtures("small")
async def test_streams_of_events_over_http_are_held_to_the_same(
    tmp_path: Path, what: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    with flooder_over_http(what) as url:
        error, _ = await disconnected(tmp_path, {"url": url})
    assert f"it was disconnected: {told}" in error
    assert not [record for record in caplog.records if record.exc_info and record.levelno > logging.DEBUG]


async def test_the_pauses_before_a_flooding_server_is_restarted_grow_although_its_calls_succeed() -> None:
    counts: list[int] = []

    class Noted(Restarts):
        @override
        def pause(self, count: int) -> float:
            counts.append(count)
            return 0.01

    spec = ServerSpec("f", command=(sys.executable, str(SERVERS / "flooder.py"), "answered_pings"))
    connection = Connection(spec, 10, restarts=Noted())
    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            for rounds in range(1, 4):
                await until(lambda: connection.is_up)
                try:
                    await connection.call("flood", {})
                except ServerGone as gone:  # the flood may overtake the answer
                    assert "disconnected" in str(gone)
                await until(lambda wanted=rounds: len(counts) == wanted)
            connection.stop()
    assert counts == [0, 1, 2]


def test_a_peer_within_its_allowance_may_go_on_for_long() -> None:
    now = 0.0
    allowance = Allowance(lambda: now)
    for _ in range(1_000):
        allowance.unasked(1_000, 4 * 1024 * 1024)
        now += 1.0
    assert not allowance.excess
    allowance.unasked(limits.BURST_MESSAGES + 1_001)
    assert "more than 1000 a second" in allowance.excess


def test_answers_give_back_the_bytes_that_they_took() -> None:
    allowance = Allowance(lambda: 0.0)
    for _ in range(1_000):
        allowance.unasked(0, 4 * 1024 * 1024)
        allowance.unasked(0, -4 * 1024 * 1024)
    assert not allowance.excess


def test_large_requests_in_progress_are_bounded_in_bytes() -> None:
    allowance = Allowance(lambda: 0.0)
    for _ in range(100):
        allowance.begin("a", MAX_REQUEST_BYTES)
        allowance.end("a")
    assert not allowance.excess
    allowance.begin("a", MAX_REQUEST_BYTES)
    allowance.begin("a", 1)
    assert "came to more than 8 MiB" in allowance.excess


async def test_what_a_call_is_told_waits_within_a_limit_of_bytes_and_loses_the_oldest() -> None:
    class Deaf(FakeClient):
        @override
        async def log(self, level: str, data: Any, logger: str | None = None) -> None:
            await super().log(level, len(data))

    client = Deaf()

    async def never(_: str) -> UpstreamResult:
        raise NotImplementedError

    call = OngoingCall(client, never)
    third = MAX_SAID_BYTES // 3
    for sizes, heard in (([third, third, third, 10], [third, third, 10]), ([2 * MAX_SAID_BYTES, 10], [10])):
        client.heard.clear()
        for size in sizes:
            call.notify("notifications/message", {"level": "info", "data": "x" * size})
        await call._pass_on(client)
        assert [size for _, _, size in client.heard] == heard


@pytest.mark.requirement("I24.5.6")
@pytest.mark.parametrize("value", [b"[]", b"1", b'{"a":1}'])
def test_a_message_of_very_many_values_is_refused_before_they_are_made(value: bytes) -> None:
    answer = b'{"jsonrpc": "2.0", "id": 1, "result": {"a": [%s]}}'
    most = b",".join([value] * (MAX_VALUES // 2 - 10))
    assert json.loads(answer % most) == message_of(answer % most).message.model_dump()
    more = b",".join([value] * MAX_VALUES)
    with at_most(units=5), pytest.raises(ValueError, match="more than 100,000 values"):
        message_of(answer % more)


def test_texts_of_a_message_may_hold_any_signs() -> None:
    text = '[{,\\"' * MAX_VALUES
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"a": text}}).encode()
    assert message_of(answer).message.model_dump()["result"] == {"a": text}
