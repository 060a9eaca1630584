"""The first requests on stdio, answered before there is an event loop: no client can tell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.piped import answers, piped
from tests.support.served import (
    INITIALIZE,
    INITIALIZED,
    MODERN_META,
    StdioServer,
    call,
    command,
    tool,
    write_config,
)
from tests.support.waiting import BOUND_S

pytestmark = pytest.mark.requirement("I9.4.3")

PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}
MODERN_LIST = {**LIST, "params": {"_meta": MODERN_META}}
DISCOVER = {"jsonrpc": "2.0", "id": "discover", "method": "server/discover", "params": {"_meta": MODERN_META}}
GREETING: Sequence[dict[str, Any]] = (INITIALIZE, INITIALIZED, LIST)


def names(listing: dict[str, Any]) -> list[str]:
    return [each["name"] for each in listing["result"]["tools"]]


def test_what_comes_in_one_piece_is_answered_once_each_and_in_order(tmp_path: Path) -> None:
    again, weather = {**LIST, "id": "again"}, call("weather", "weather", {"location": "Paris"})
    done = piped(
        write_config(tmp_path), INITIALIZE, PING, INITIALIZED, LIST, again, weather, PING | {"id": 9}
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(str(answer["id"]) for answer in told) == ["9", "again", "init", "list", "ping", "weather"]
    assert [answer["id"] for answer in told[:4]] == ["init", "ping", "list", "again"]
    assert names(told[2]) == names(told[3]) == ["echo", "weather", "add"]
    assert done.returncode == 0


def test_the_revision_that_was_settled_first_is_spoken_later(tmp_path: Path) -> None:
    older = json.loads(json.dumps(INITIALIZE))
    older["params"]["protocolVersion"] = "2025-03-26"
    batch = json.dumps([PING, {**PING, "id": "other"}]).encode()
    with StdioServer(write_config(tmp_path)) as server:
        assert server.ask(older)["result"]["protocolVersion"] == "2025-03-26"
        server.send(INITIALIZED)
        server.ask(LIST)
        assert len(server.ask(batch)) == 2
        assert "structuredContent" not in server.ask(call(1, "add"))["result"]


def test_a_client_that_confirmed_its_handshake_first_is_told_of_changes_later(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    with StdioServer(config) as server:
        server.send(*GREETING)
        assert [server.receive()["id"], server.receive()["id"]] == ["init", "list"]
        write_config(tmp_path, "wait")
        assert server.receive()["method"] == "notifications/tools/list_changed"
        assert "wait" in names(server.ask(LIST))


def test_the_modern_era_opens_so_too(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        assert "result" in server.ask(DISCOVER)
        assert names(server.ask(MODERN_LIST)) == ["echo", "weather", "add"]
        answer = server.ask(call(1, "add", _meta=MODERN_META))
        assert answer["result"]["structuredContent"] == "4"


def test_a_line_that_has_only_begun_is_read_to_its_end(tmp_path: Path) -> None:
    line = json.dumps(call(5, "add")).encode()
    with StdioServer(write_config(tmp_path)) as server:
        server.send(*GREETING)
        server.stdin.write(line[:20])
        server.stdin.flush()
        assert [server.receive()["id"], server.receive()["id"]] == ["init", "list"]
        assert server.ask(line[20:])["id"] == 5


@pytest.mark.parametrize(
    ("line", "code"),
    [(b"rubbish", -32700), (b"[]", -32600), (b'{"jsonrpc":"2.0","id":7,"method":7}', -32600)],
)
def test_a_wrong_first_line_is_answered_and_ends_nothing(tmp_path: Path, line: bytes, code: int) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        assert server.ask(line)["error"]["code"] == code
        server.handshake()
        assert names(server.ask(LIST)) == ["echo", "weather", "add"]


def test_a_list_before_a_handshake_is_refused_as_ever(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        assert "error" in server.ask(LIST)
        server.handshake()
        assert names(server.ask(LIST)) == ["echo", "weather", "add"]


@pytest.mark.parametrize("messages", [(), (INITIALIZE,), GREETING])
def test_the_end_of_the_input_ends_the_server(tmp_path: Path, messages: Sequence[dict[str, Any]]) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        server.send(*messages)
        server.close_input()
        assert server.process.returncode == 0
        assert len(server.answers.rest()) == sum("id" in each for each in messages)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_between_the_first_requests_ends_the_server(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        server.ask(INITIALIZE)
        server.stop(number)
        assert server.process.returncode == code


def test_a_client_that_no_longer_reads_ends_the_server(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    line = command("--config", write_config(tmp_path))
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=theirs) as server, os.fdopen(ours) as answers:
        os.close(theirs)
        assert server.stdin is not None
        server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        server.stdin.flush()
        assert "result" in answers.readline()
        answers.close()
        assert server.wait(BOUND_S) == 0


def test_a_list_larger_than_a_pipe_arrives_whole(tmp_path: Path) -> None:
    many = [tool(f"tool_{number}", {"type": "mock", "mock_response": "x" * 9}) for number in range(1_500)]
    config = tmp_path / "toolspan.json"
    config.write_text(json.dumps({"tools": {"registry": many}, "limits": {"page_size": 1_500}}))
    told = answers(piped(config, *GREETING, call(1, "tool_1499")))
    assert names(told["list"]) == [f"tool_{number}" for number in range(1_500)]
    assert told[1]["result"]["isError"] is False
