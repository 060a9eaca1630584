"""The stdio transport, byte by byte, in a real process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.piped import answers, cancelled, peak_memory, piped
from tests.support.served import (
    INITIALIZE,
    INITIALIZED,
    MODERN_META,
    StdioServer,
    call,
    command,
    until,
    write_config,
)
from tests.support.waiting import BOUND_S

PING = {"jsonrpc": "2.0", "id": "alive", "method": "ping"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioServer]:
    config = write_config(
        tmp_path_factory.mktemp("shared"),
        "noise",
        "stdin",
        "surrogate",
        "large",
        "meta",
        "fault",
        "exit",
        "wait",
        "raise",
        "raise_async",
    )
    with StdioServer(config) as server:
        yield server.handshake()


@pytest.mark.requirement("I2.5.1", "I2.8.4", "I3.1.1", "I3.5.1")
@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"rubbish", -32700, None),
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b'{"jsonrpc":"2.0","id":"n","method":"ping","params":{"x":NaN}}', -32700, "n"),
        (b'{"jsonrpc":"2.0","id":"s","method":"ping","params":{"x":"\\ud800"}}', -32700, "s"),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'{"id":1,"method":"ping"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":2,"method":7}', -32600, 2),
        (b'{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}', -32600, 3),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b"x" * 5_000_000, -32600, None),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"%s"}}' % (b"y" * 5_000_000), -32600, 5),
        (b'{"method":"ping","params":{"x":"%s"},"jsonrpc":"2.0","id":6}' % (b"y" * 5_000_000), -32600, 6),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":%s}}' % (b"[" * 100_000), -32700, 7),
        (b'{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":%s}}' % (b"9" * 5_000), -32700, 8),
        (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"\x00"}}', -32700, 9),
        (b'{"jsonrpc":"2.0","id":10,"method":"ping","params":{"x":"\xc3"}}', -32700, 10),
        (b'{"jsonrpc":"2.0","id":11,"method":"ping"} {}', -32700, 11),
        (b"\x00", -32700, None),
        (b"\xff\xfe[\x00]\x00", -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
        (b'"ping"', -32600, None),
        (b"5", -32600, None),
        (b'{"jsonrpc":"2.0","id":4,"method":"no/such"}', -32601, 4),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_every_line_is_answered_and_the_next_one_served(
    shared: StdioServer, line: bytes, code: int, request_id: str | int | None
) -> None:
    answer = shared.ask(line)
    assert (answer["error"]["code"], answer.get("id")) == (code, request_id)
    assert shared.ask(PING) == {"jsonrpc": "2.0", "id": "alive", "result": {}}


@pytest.mark.parametrize("dressed", [b"\xef\xbb\xbf%s", b"%s\r", b"\n\r\n%s"])
def test_byte_order_marks_carriage_returns_and_blank_lines_are_accepted(
    shared: StdioServer, dressed: bytes
) -> None:
    assert shared.ask(dressed % json.dumps(PING).encode())["result"] == {}


@pytest.mark.requirement("I2.5.1")
def test_nothing_that_a_handler_prints_reaches_the_wire(shared: StdioServer) -> None:
    answer = shared.ask(call("noise", "noise"))
    assert answer["id"] == "noise"
    assert answer["result"]["content"][0]["text"] == "quiet on the wire"
    shared.errors.first(lambda line: line == "printed while the handlers' module is imported")
    for stray in (
        "printed",
        "written to the buffer",
        "written to descriptor 1",
        "printed by a child",
        "put by C",
    ):
        shared.errors.first(lambda line, stray=stray: line == stray)  # type: ignore[misc]  # bound for the loop


def test_a_handler_cannot_read_the_wire(shared: StdioServer) -> None:
    assert shared.ask(call(1, "stdin"))["result"]["content"][0]["text"] == ""


def test_a_result_that_is_no_text_does_not_end_the_server(shared: StdioServer) -> None:
    result = shared.ask(call(1, "surrogate"))["result"]
    assert result["structuredContent"] == {"name": r"\udcff", r"\udcfe": 1}
    failed = shared.ask(call(2, "surrogate", {"fail": True}))["result"]
    assert failed["structuredContent"]["error"] == r"no such file: \udcff"
    assert shared.ask(PING)["result"] == {}


def test_a_large_result_comes_whole_while_others_are_served(shared: StdioServer) -> None:
    shared.send(call("large", "large", {"size": 900_000}), PING)
    got = {answer["id"]: answer for answer in (shared.receive(), shared.receive())}
    assert got["large"]["result"]["content"][0]["text"] == "x" * 900_000
    assert got["alive"]["result"] == {}


def test_a_handler_that_exits_fails_its_own_call_only(shared: StdioServer) -> None:
    assert shared.ask(call(1, "exit"))["result"]["isError"] is True
    assert shared.ask(PING)["result"] == {}


def test_a_handler_sees_the_meta_of_its_request(shared: StdioServer) -> None:
    answer = shared.ask(call(1, "meta", _meta={"trace": "t-1", "progressToken": 4}))
    assert answer["result"]["structuredContent"] == {"trace": "t-1", "progressToken": 4}


@pytest.mark.parametrize("first", [5, "same"])
def test_a_second_request_with_a_running_id_is_refused_and_the_first_answered(
    shared: StdioServer, first: int | str
) -> None:
    arguments = {"seconds": 0.2, "note": f"twice-{first}"}
    shared.send(call(first, "wait", arguments), call(first, "echo", {"value": 1}))
    refused, answered = shared.receive(), shared.receive()
    assert (refused["id"], refused["error"]["code"]) == (first, -32600)
    assert (answered["id"], answered["result"]["content"][0]["text"]) == (first, "waited")


@pytest.mark.requirement("I2.5.1", "I2.3.4")
def test_a_cancelled_call_stops_and_is_not_answered(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "wait")) as server:
        server.handshake()
        server.send(call(1, "wait", {"seconds": 60, "note": "cancelled"}))
        until((tmp_path / "cancelled.started").exists, "the call to start")
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        until((tmp_path / "cancelled").exists, "the handler's cancellation")
        assert server.ask(PING)["id"] == "alive"
        server.close_input()
        assert server.answers.rest() == []


@pytest.mark.parametrize("request_id", [99, {"a": 1}, None, "x"])
def test_cancelling_what_does_not_run_harms_nothing(shared: StdioServer, request_id: Any) -> None:
    shared.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
    assert shared.ask(PING)["result"] == {}


def test_a_call_before_the_handshake_is_an_error(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        assert server.ask(call(1, "echo"))["error"]["code"] == -32602


@pytest.mark.requirement("I2.5.1")
def test_a_modern_request_needs_no_handshake(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        answer = server.ask(call(1, "echo", {"value": [1, None]}, _meta=MODERN_META))
        assert answer["result"]["structuredContent"] == [1, None]
        assert answer["result"]["resultType"] == "complete"


def test_input_from_a_file_is_served_too(tmp_path: Path) -> None:
    lines = tmp_path / "input.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in (INITIALIZE, INITIALIZED, call(1, "add"))))
    with lines.open("rb") as source:
        done = subprocess.run(
            command("--config", write_config(tmp_path)),
            stdin=source,
            capture_output=True,
            timeout=BOUND_S,
            check=False,
        )
    assert answers(done)[1]["result"]["content"][0]["text"] == "4"
    assert done.returncode == 0


def test_no_input_at_all_is_a_clean_end(tmp_path: Path) -> None:
    done = piped(write_config(tmp_path), end=b"")
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_closed_standard_input_is_told(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" "$@" <&-', *command("--config", config)],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert done.returncode == 2
    assert "standard input or output is closed" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"NaN", "NaN is no JSON value"),
        (b"-Infinity", "-Infinity is no JSON value"),
        (b"1e400", "'value' is Infinity, which JSON cannot hold"),
        (b"-1e400", "'value' is -Infinity, which JSON cannot hold"),
        (b"9" * 4_100, "'value' is an integer of more than 4,000 digits"),
        (b"9" * 5_000, "more than 4,000 digits"),
        (b"[" * 62 + b"]" * 62, "more than 64 levels"),
        (b'"\\udc00"', "hex escape"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_arguments_that_no_tool_could_take_are_refused_by_name(
    shared: StdioServer, value: bytes, told: str
) -> None:
    line = (
        b'{"jsonrpc":"2.0","id":"v","method":"tools/call","params":{"name":"echo","arguments":{"value":%s}}}'
    )
    answer = shared.ask(line % value)
    assert answer["id"] == "v"
    assert told in json.dumps(answer)
    assert "error" in answer or answer["result"]["isError"] is True
    assert shared.ask(PING)["result"] == {}


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize("where", ["first", "last"])
@pytest.mark.cold
def test_a_line_of_100_mb_is_one_error_in_bounded_memory(tmp_path: Path, where: str) -> None:
    before, after = (b'{"id":1,"method":"', b'"}') if where == "first" else (b'{"method":"', b'","id":1}')
    with StdioServer(write_config(tmp_path)) as server:
        server.handshake()
        usual = peak_memory(server.process.pid)
        server.stdin.write(before)
        for _ in range(100):
            server.stdin.write(b"x" * 1_000_000)
        answer = server.ask(after)
        assert (answer["error"]["code"], answer["id"]) == (-32600, 1)
        assert "at most 4194304 bytes" in answer["error"]["message"]
        assert server.ask(PING)["result"] == {}
        assert peak_memory(server.process.pid) - usual < 32_000_000


@pytest.mark.requirement("I3.1.1")
def test_the_limit_of_a_line_is_configurable(tmp_path: Path) -> None:
    config = write_config(tmp_path, limits={"message_bytes": 2_000})
    with StdioServer(config) as server:
        assert "at most 2000 bytes" in server.ask(b"x" * 2_001)["error"]["message"]
        assert server.handshake().ask(PING)["result"] == {}


@pytest.mark.requirement("I3.1.1")
def test_ids_that_differ_by_type_only_are_different_requests(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "wait")) as server:
        server.handshake()
        server.send(
            call(5, "wait", {"seconds": 60, "note": "number"}),
            call("5", "wait", {"seconds": 60, "note": "text"}, task={"ttl": 1}),
            cancelled("5"),
        )
        until((tmp_path / "text").exists, "the second call's cancellation")
        assert server.ask(PING)["id"] == "alive"
        assert not (tmp_path / "number").exists()
        server.send(cancelled(5))
        until((tmp_path / "number").exists, "the first call's cancellation")


@pytest.mark.requirement("I3.1.1")
@pytest.mark.parametrize("long_first", [True, False])
def test_a_running_id_is_taken_whichever_way_its_request_went(tmp_path: Path, long_first: bool) -> None:
    task = {"task": {"ttl": 1}}
    first, second = (task, {}) if long_first else ({}, task)
    with StdioServer(write_config(tmp_path, "wait")) as server:
        server.handshake()
        server.send(call(1, "wait", {"seconds": 0.3, "note": "first"}, **first))
        until((tmp_path / "first.started").exists, "the call to start")
        refused = server.ask(call(1, "echo", **second))
        assert (refused["id"], refused["error"]["code"]) == (1, -32600)
        assert server.receive()["result"]["content"][0]["text"] == "waited"
        assert server.ask(call(1, "echo", {"value": "again"}, **second))["result"]["isError"] is False


@pytest.mark.requirement("I3.1.1")
def test_a_batch_is_answered_item_by_item_in_the_revision_that_has_batches(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "wait")) as server:
        server.ask({**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": "2025-03-26"}})
        batch: list[Any] = [
            call(1, "echo", {"value": "x"}),
            INITIALIZED,
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "none"}},
            PING,
            5,
            {"jsonrpc": "2.0", "id": 3},
            INITIALIZE,
            call(4, "wait", {"seconds": 60, "note": "batched"}),
            call(4, "echo"),
        ]
        server.send(json.dumps(batch).encode())
        until((tmp_path / "batched.started").exists, "the last call to start")
        server.send(cancelled(4))
        got: Any = server.receive()
        errors = sorted(
            (each.get("id") or 0, each["error"]["code"])
            for each in got
            if each.get("id") != "init" and "error" in each
        )
        assert errors == [(0, -32600), (2, -32602), (3, -32600), (4, -32600)]
        assert {each["id"] for each in got if "result" in each} == {1, "alive"}
        assert [each["error"]["code"] for each in got if each.get("id") == "init"] == [-32600]
        assert len(got) == 7
        assert server.ask(b"[]")["error"]["code"] == -32600
        assert "1,000" in server.ask(json.dumps([PING] * 1_001).encode())["error"]["message"]
        server.send(json.dumps([INITIALIZED]).encode())
        assert server.ask(PING)["result"] == {}


@pytest.mark.requirement("I3.1.2")
@pytest.mark.parametrize("tool", ["raise", "raise_async"])
@pytest.mark.parametrize("how", ["exit", "interrupt", "recursion", "memory"])
@pytest.mark.parametrize("after", [0, 0.01])
@pytest.mark.parametrize("more", [{}, {"task": {"ttl": 1}}], ids=["short", "long"])
def test_whatever_a_handler_raises_fails_its_own_call_only(
    shared: StdioServer, tool: str, how: str, after: float, more: dict[str, Any]
) -> None:
    result = shared.ask(call(how, tool, {"how": how, "after": after}, **more))["result"]
    assert result["isError"] is True
    assert shared.ask(PING)["result"] == {}


@pytest.mark.requirement("I3.1.3")
@pytest.mark.parametrize("how", ["replace", "close", "print"])
@pytest.mark.cold
def test_nothing_that_a_handler_does_to_standard_output_reaches_the_wire(tmp_path: Path, how: str) -> None:
    done = piped(
        write_config(tmp_path, "stdout"), INITIALIZE, INITIALIZED, call(1, "stdout", {"how": how}), PING
    )
    assert answers(done).keys() == {"init", 1, "alive"}
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.requirement("I3.1.3", "I3.3.1")
@pytest.mark.cold
def test_a_call_goes_on_while_the_sdk_is_imported_and_the_client_sees_one_server(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "wait")) as server:
        server.handshake()
        server.send(call("plain", "wait", {"seconds": 0.1, "note": "plain"}))
        server.send({"jsonrpc": "2.0", "id": "odd", "method": "tools/list", "params": {"cursor": "2"}})
        server.send(call("long", "echo", {"value": 1}, task={"ttl": 1}), PING)
        got = {answer["id"]: answer for answer in (server.receive() for _ in range(4))}
        assert got["plain"]["result"]["content"][0]["text"] == "waited"
        assert got["odd"]["error"]["code"] == -32602
        assert got["long"]["result"]["structuredContent"] == {"result": 1}
        assert got["alive"]["result"] == {}
        server.close_input()
        assert server.answers.rest() == []
