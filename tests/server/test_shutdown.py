"""However a server is told to end, it ends, with the right code and no traceback, whatever still runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGINT, SIGTERM

import httpx2
import pytest

from tests.support.served import (
    BOUND_S,
    INITIALIZE,
    INITIALIZED,
    MODERN_META,
    Served,
    StdioServer,
    call,
    command,
    http_server,
    stopped,
    until,
    write_config,
)
from toolspan_server.shutdown import GRACE_S, LIMIT_S, Stop

pytestmark = pytest.mark.long

FOR_EVER = {"seconds": 3_600}
CUT_SOON = {"TESTS_GRACE_S": "0.2"}
NEVER_CUT = {"TESTS_GRACE_S": "100"}
End = Callable[[StdioServer], None]
ENDS = [
    pytest.param(lambda server: server.stop(SIGTERM), 0, id="SIGTERM"),
    pytest.param(lambda server: server.stop(SIGINT), 130, id="Ctrl+C"),
    pytest.param(lambda server: server.close_input(), 0, id="closed stdin"),
]


def assert_clean(server: StdioServer | Served, code: int) -> None:
    assert server.process.returncode == code
    assert "Traceback" not in server.errors.text
    assert "Exception" not in server.errors.text


@pytest.mark.requirement("I2.5.2")
def test_the_deadlines_of_the_end_add_up_to_two_seconds_at_most() -> None:
    assert GRACE_S < LIMIT_S <= 2


@pytest.mark.requirement("I2.5.2")
@pytest.mark.parametrize(("end", "code"), ENDS)
def test_an_idle_server_on_stdio_ends(tmp_path: Path, end: End, code: int) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        server.handshake()
        end(server)
        assert_clean(server, code)


@pytest.mark.requirement("I2.5.2", "I3.1.2")
@pytest.mark.parametrize(("end", "code"), ENDS[:2])
def test_a_blocked_thread_does_not_hold_the_server_and_its_call_is_answered(
    tmp_path: Path, end: End, code: int
) -> None:
    with StdioServer(write_config(tmp_path, "block"), env=CUT_SOON) as server:
        server.handshake().send(call("blocked", "block", FOR_EVER))
        until((tmp_path / "blocking").exists, "the call to start")
        end(server)
        assert_clean(server, code)
        answer = json.loads(server.answers.next())
        assert (answer["id"], answer["error"]["code"]) == ("blocked", -32000)


@pytest.mark.requirement("I3.1.2")
def test_after_a_closed_stdin_a_blocked_call_ends_with_its_time_out(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "block", timeout_ms=1_500)) as server:
        server.handshake().send(call("blocked", "block", FOR_EVER))
        until((tmp_path / "blocking").exists, "the call to start")
        server.close_input()
        assert server.process.returncode == 0
        result = json.loads(server.answers.next())["result"]
        assert result["structuredContent"]["error_code"] == "timeout"


@pytest.mark.requirement("I3.1.2")
def test_a_signal_after_a_closed_stdin_ends_the_server(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "block"), env=CUT_SOON) as server:
        server.handshake().send(call("blocked", "block", FOR_EVER))
        until((tmp_path / "blocking").exists, "the call to start")
        server.stdin.close()
        server.stop(SIGTERM)
        assert_clean(server, 0)
        assert json.loads(server.answers.next())["error"]["code"] == -32000


@pytest.mark.requirement("I3.1.2")
def test_a_frozen_event_loop_does_not_hold_the_server_after_a_closed_stdin(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "freeze", timeout_ms=1_000)) as server:
        server.handshake().send(call(1, "freeze", {"after": 0.8}))
        server.close_input()
        assert server.process.returncode == 0


@pytest.mark.requirement("I2.5.2")
def test_a_frozen_event_loop_does_not_hold_the_server(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "freeze")) as server:
        server.handshake().send(call(1, "freeze"))
        until((tmp_path / "frozen").exists, "the call to start")
        server.stop()
        assert_clean(server, 0)


@pytest.mark.requirement("I2.5.2")
@pytest.mark.parametrize(("end", "code"), ENDS[::2])
def test_a_call_that_is_nearly_done_still_answers(tmp_path: Path, end: End, code: int) -> None:
    with StdioServer(write_config(tmp_path, "wait"), env=NEVER_CUT) as server:
        server.handshake().send(call(1, "wait", {"seconds": 0.5, "note": "done"}))
        until((tmp_path / "done.started").exists, "the call to start")
        end(server)
        assert_clean(server, code)
        assert json.loads(server.answers.next())["result"]["content"][0]["text"] == "waited"


@pytest.mark.requirement("I2.5.2")
def test_a_signal_in_the_servers_first_turn_leaves_what_has_begun_its_answer(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "stop"), env=NEVER_CUT) as server:
        server.send(INITIALIZE, INITIALIZED, call(1, "stop", {}))
        assert "result" in server.receive()
        assert server.receive()["result"]["content"][0]["text"] == "stopped"
        server.process.wait(BOUND_S)
        assert_clean(server, 0)


@pytest.mark.requirement("I2.5.2")
def test_a_client_that_closes_its_end_of_stdout_ends_the_server(tmp_path: Path) -> None:
    read, write = os.pipe()
    server = subprocess.Popen(
        command("--config", write_config(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    assert server.stdin is not None
    server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    server.stdin.flush()
    os.read(read, 1)
    stopped(server, lambda: os.close(read))
    _, errors = server.communicate()
    assert server.returncode == 0
    assert b"Traceback" not in errors


@pytest.mark.requirement("I2.5.2")
def test_a_client_that_never_reads_does_not_hold_the_server(tmp_path: Path) -> None:
    read, write = os.pipe()
    calls = [call(number, "large", {"size": 900_000}) for number in range(4)]
    server = subprocess.Popen(
        command("--config", write_config(tmp_path, "large")),
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    assert server.stdin is not None
    server.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in (INITIALIZE, *calls)))
    server.stdin.flush()
    os.read(read, 1)
    stopped(server, server.stdin.close)
    os.close(read)
    assert server.stderr is not None
    with server.stderr:
        assert b"Traceback" not in server.stderr.read()
    assert server.returncode == 0


@pytest.mark.requirement("I2.5.2")
def test_a_thread_that_a_handler_left_behind_does_not_hold_the_server(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "thread")) as server:
        server.handshake()
        assert server.ask(call(1, "thread"))["result"]["content"][0]["text"] == "left behind"
        server.close_input()
        assert_clean(server, 0)


def test_a_second_ctrl_c_ends_a_blocked_server_at_once(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "freeze")) as server:
        server.handshake().send(call(1, "freeze"))
        until((tmp_path / "frozen").exists, "the call to start")

        def twice() -> None:
            server.process.send_signal(SIGINT)
            server.process.send_signal(SIGTERM)

        stopped(server.process, twice)
        assert server.process.returncode == 130


def test_a_signal_while_the_config_is_read_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\npathlib.Path(__file__).with_name('loading').touch()\ntime.sleep(3_600)\n"
    )
    config = tmp_path / "toolspan.json"
    config.write_text(json.dumps({"handlers": ["slow.py"]}))
    with StdioServer(config) as server:
        until((tmp_path / "loading").exists, "the config to be read")
        server.stop(SIGTERM)
        assert_clean(server, 0)


@pytest.mark.requirement("I2.5.2")
def test_an_open_stream_does_not_hold_an_http_server(tmp_path: Path) -> None:
    with (
        http_server(write_config(tmp_path)) as server,
        httpx2.Client(base_url=server.url, timeout=BOUND_S) as client,
        client.stream("GET", "/sse") as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        server.stop(SIGINT)
        assert_clean(server, 130)
        assert "event: message" not in list(lines)


@pytest.mark.requirement("I2.5.2")
def test_a_blocked_thread_does_not_hold_an_http_server(tmp_path: Path) -> None:
    with (
        http_server(write_config(tmp_path, "block"), env=CUT_SOON) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        asked = pool.submit(ask, server, "block", FOR_EVER)
        until((tmp_path / "blocking").exists, "the call to start")
        server.stop()
        assert_clean(server, 0)
        assert asked.result(BOUND_S).status_code == 503


@pytest.mark.requirement("I2.5.2")
def test_a_call_over_http_that_is_nearly_done_still_answers(tmp_path: Path) -> None:
    with (
        http_server(write_config(tmp_path, "wait"), env=NEVER_CUT) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        asked = pool.submit(ask, server, "wait", {"seconds": 0.5, "note": "done"})
        until((tmp_path / "done.started").exists, "the call to start")
        server.stop()
        assert_clean(server, 0)
        assert asked.result(BOUND_S).json()["result"]["structuredContent"] == "waited"


def ask(server: Served, tool: str, arguments: dict[str, object]) -> httpx2.Response:
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    body = call(1, tool, arguments, _meta=MODERN_META)
    return httpx2.post(f"{server.url}/mcp", json=body, headers=headers, timeout=BOUND_S)


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    before = signal.getsignal(SIGTERM)
    with ThreadPoolExecutor(1) as other:

        def within() -> object:
            with Stop().signals():
                return signal.getsignal(SIGTERM)

        assert other.submit(within).result(BOUND_S) == before


def test_signals_are_given_back() -> None:
    before = (signal.getsignal(SIGTERM), signal.getsignal(SIGINT))
    with Stop().signals():
        assert signal.getsignal(SIGTERM) != before[0]
    assert (signal.getsignal(SIGTERM), signal.getsignal(SIGINT)) == before


def test_threads_of_others_are_no_reason_to_end_the_process() -> None:
    release = threading.Event()
    other = threading.Thread(target=release.wait)
    other.start()
    Stop().leave()
    release.set()
    other.join(BOUND_S)
