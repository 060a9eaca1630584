"""Handlers in worker processes, over the wire of a real server."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.isolated import config, entry, is_alive, noted
from tests.support.raw_http import RawClient, tool_call
from tests.support.served import StdioServer, call, http_server, until

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.2.14")]


def test_a_call_that_holds_the_interpreters_lock_delays_nobody_else(tmp_path: Path) -> None:
    long = entry("long", "isolated_power", timeout_ms=3_600_000)
    with http_server(config(tmp_path, long)) as server, RawClient(server.address) as client:
        client.send(tool_call("long"))
        until(lambda: noted(tmp_path), "the handler to run")
        with RawClient(server.address) as other:
            answers = [other.send(tool_call("weather")).answer() for _ in range(20)]
        assert [each.message["result"]["content"][0]["text"] for each in answers] == ["sunny"] * 20
        assert not client.is_told_anything()


@pytest.mark.long
def test_such_a_call_ends_with_its_time_out(tmp_path: Path) -> None:
    brief = entry("brief", "isolated_power", timeout_ms=1_500)
    with http_server(config(tmp_path, brief)) as server, RawClient(server.address) as client:
        answer = client.send(tool_call("brief")).answer()
    assert "timed out after 1500ms" in answer.message["result"]["content"][0]["text"]


def test_nothing_that_a_worker_prints_or_reads_touches_the_wire_of_stdio(tmp_path: Path) -> None:
    with StdioServer(config(tmp_path)) as server:
        server.handshake()
        server.send(call(1, "outcome", {"how": "garbage"}), call(2, "weather"))
        got = {message["id"]: message["result"] for message in (server.receive(), server.receive())}
        assert got[1]["content"][0]["text"] == ""
        assert got[2]["content"][0]["text"] == "sunny"
        server.errors.first(lambda line: "printed" in line)


@pytest.mark.parametrize("name", ["power", "family"])
def test_workers_end_with_a_server_that_is_killed(tmp_path: Path, name: str) -> None:
    with StdioServer(config(tmp_path)) as server:
        server.handshake()
        server.send(call(1, name))
        until(lambda: noted(tmp_path), "the handler to run")
        server.process.kill()
        together = noted(tmp_path)[:2]
        until(lambda: not any(map(is_alive, together)), "the worker and its child to end")
        for pid in noted(tmp_path)[2:]:
            os.kill(pid, signal.SIGKILL)  # a session of its own survives this, and only this


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_workers_and_all_that_they_started_end_with_a_server_that_is_stopped(
    tmp_path: Path, number: signal.Signals
) -> None:
    with StdioServer(config(tmp_path)) as server:
        server.handshake()
        server.send(call(1, "family"))
        until(lambda: noted(tmp_path), "the handler to run")
        server.stop(number)
        until(lambda: not any(map(is_alive, noted(tmp_path))), "all of them to end")
