"""The stdio transport, byte by byte, in a real process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
    )
    with StdioServer(config) as server:
        yield server.handshake()


def piped(
    config: Path, *messages: bytes | dict[str, Any], end: bytes = b"\n"
) -> subprocess.CompletedProcess[bytes]:
    """Serve what ``printf … | toolspan-server`` would send."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
    return subprocess.run(
        command("--config", config),
        input=b"\n".join(lines) + end,
        capture_output=True,
        timeout=15,
        check=False,
    )


def answers(done: subprocess.CompletedProcess[bytes]) -> dict[Any, dict[str, Any]]:
    return {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}


@pytest.mark.requirement("I2.5.1", "I2.8.4")
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
        assert server.close_input() < 2
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


@pytest.mark.requirement("I2.5.2")
@pytest.mark.parametrize("end", [b"\n", b""], ids=["newline", "no newline"])
def test_every_request_before_the_end_of_the_input_is_answered(tmp_path: Path, end: bytes) -> None:
    calls = [call(number, "echo", {"value": number}) for number in range(200)]
    done = piped(write_config(tmp_path), INITIALIZE, INITIALIZED, *calls, end=end)
    got = answers(done)
    assert [got[number]["result"]["content"][0]["text"] for number in range(200)] == [
        str(n) for n in range(200)
    ]
    assert done.returncode == 0


def test_slow_calls_still_answer_after_the_end_of_the_input(tmp_path: Path) -> None:
    calls = [call(n, "wait", {"seconds": 0.5, "note": f"n{n}"}) for n in range(20)]
    got = answers(piped(write_config(tmp_path, "wait"), INITIALIZE, INITIALIZED, *calls))
    assert all(got[number]["result"]["content"][0]["text"] == "waited" for number in range(20))


def test_input_from_a_file_is_served_too(tmp_path: Path) -> None:
    lines = tmp_path / "input.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in (INITIALIZE, INITIALIZED, call(1, "add"))))
    with lines.open("rb") as source:
        done = subprocess.run(
            command("--config", write_config(tmp_path)),
            stdin=source,
            capture_output=True,
            timeout=15,
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
        timeout=15,
        check=False,
    )
    assert done.returncode == 2
    assert "standard input or output is closed" in done.stderr
    assert done.stderr.count("\n") == 1
