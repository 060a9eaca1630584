"""Several processes on one port: who serves, who is replaced, and how all of them end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.served import (
    BOUND_S,
    INITIALIZE,
    MODERN_META,
    Served,
    call,
    http_server,
    run,
    tool,
    until,
    write_config,
)
from tests.support.waiting import gone
from toolspan_server.cli.main import main
from toolspan_server.errors import ServeError
from toolspan_server.http_server.listening import listen
from toolspan_server.protocol.http.workers import check_workers, spread

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="workers need fork")]
ACCEPT = {"accept": "application/json, text/event-stream"}


@contextmanager
def workers(folder: Path, count: int = 2, **env: str) -> Iterator[Served]:
    config = write_config(folder, "process", "die", "wait")
    with http_server(config, "--workers", str(count), env=env) as server:
        yield server


def ask(server: Served, name: str, arguments: Any = None) -> Any:
    """Call a tool on a connection of its own."""
    message = call(1, name, arguments or {})
    message["params"]["_meta"] = MODERN_META
    headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name}
    with httpx2.Client(base_url=server.url, timeout=BOUND_S) as client:
        return client.post("/mcp", json=message, headers=headers).json()["result"]["structuredContent"]


def processes(server: Served, count: int) -> set[int]:
    """The workers, as the calls of many connections find them."""
    found: set[int] = set()
    until(lambda: found.add(ask(server, "process")) or len(found) == count, f"{count} workers to serve")
    return found


@pytest.mark.requirement("I3.2.3")
def test_workers_share_the_port_and_the_parent_does_not_serve(tmp_path: Path) -> None:
    with workers(tmp_path, 3) as server:
        found = processes(server, 3)
        assert server.process.pid not in found
        assert server.errors.text.endswith("/sse (HTTP+SSE) with 3 workers")


@pytest.mark.requirement("I3.2.3")
def test_a_session_lives_in_the_worker_that_made_it_and_is_unknown_elsewhere(tmp_path: Path) -> None:
    with workers(tmp_path) as server, httpx2.Client(base_url=server.url, timeout=BOUND_S) as client:
        opened = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
        here = client.post("/mcp", json=call(1, "process"), headers=session).json()
        statuses: dict[int, set[int]] = {}

        def seen_elsewhere() -> bool:
            with httpx2.Client(base_url=server.url, timeout=BOUND_S) as other:
                own = other.post(
                    "/mcp",
                    json=call(1, "process"),
                    headers={**ACCEPT, "mcp-protocol-version": "2025-06-18"},
                ).json()["result"]["structuredContent"]["result"]
                answer = other.post("/mcp", json=call(2, "process"), headers=session)
                statuses.setdefault(own, set()).add(answer.status_code)
            return len(statuses) == 2

        until(seen_elsewhere, "connections to both workers")
        at_home = here["result"]["structuredContent"]["result"]
        assert statuses.pop(at_home) == {200}
        assert list(statuses.values()) == [{404}]


@pytest.mark.requirement("I3.2.3")
def test_a_worker_that_dies_is_replaced_and_the_parent_says_so(tmp_path: Path) -> None:
    with workers(tmp_path, TESTS_GRACE_S="1") as server:
        before = processes(server, 2)
        with pytest.raises(httpx2.RemoteProtocolError):
            ask(server, "die")
        server.errors.first(lambda line: "ended with status 7; another starts in 0.2 s" in line)
        assert len(processes(server, 2) & before) == 1
        [killed] = list(before & processes(server, 2))
        os.kill(killed, signal.SIGKILL)
        server.errors.first(lambda line: f"(process {killed}) was killed by signal 9" in line)
        assert not processes(server, 2) & before
        assert "Traceback" not in server.errors.text


@pytest.mark.requirement("I3.2.3", "I2.5.2")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_to_the_parent_ends_all(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with workers(tmp_path) as server:
        found = processes(server, 2)
        server.stop(number)
        assert server.process.returncode == code
        assert all(map(gone, found))
        assert "Traceback" not in server.errors.text


@pytest.mark.requirement("I3.2.3")
def test_a_terminals_ctrl_c_which_reaches_every_process_lets_calls_finish(tmp_path: Path) -> None:
    with workers(tmp_path) as server:
        found = processes(server, 2)
        for each in found:
            os.kill(each, signal.SIGINT)
        assert processes(server, 2) == found
        server.stop(signal.SIGINT)
        assert server.process.returncode == 130


@pytest.mark.requirement("I3.2.3")
def test_a_signal_to_the_whole_group_lets_a_call_that_is_nearly_done_finish(tmp_path: Path) -> None:
    with workers(tmp_path, TESTS_GRACE_S="100") as server, ThreadPoolExecutor(1) as thread:
        found = processes(server, 2)
        asked = thread.submit(ask, server, "wait", {"seconds": 0.8, "note": "done"})
        until((tmp_path / "done.started").exists, "the call to start")
        for each in found:
            os.kill(each, signal.SIGTERM)
        until(lambda: any(map(gone, found)), "the idle worker to end")
        server.stop()
        assert asked.result(BOUND_S) == "waited"
        assert server.process.returncode == 0


@pytest.mark.requirement("I3.2.3")
def test_a_hung_worker_is_killed_when_the_time_is_over(tmp_path: Path) -> None:
    with workers(tmp_path) as server:
        stuck = processes(server, 2).pop()
        os.kill(stuck, signal.SIGSTOP)
        server.stop()
        assert server.process.returncode == 0
        assert gone(stuck)


@pytest.mark.requirement("I3.2.3")
def test_workers_do_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    with workers(tmp_path) as server:
        found = processes(server, 2)
        server.stop(signal.SIGKILL)
        until(lambda: all(map(gone, found)), "the workers to end")


def test_a_worker_that_cannot_start_ends_the_server_with_its_code(tmp_path: Path) -> None:
    script = """
import socket, sys
from toolspan_server.protocol.http.workers import Workers

def serve(listener, ready, alive):
    if listener.fileno() == second.fileno():
        return 3
    ready()
    return 0 if socket.socket().recv(1) else 1

first, second = socket.socket(), socket.socket()
sys.exit(Workers(serve, [first, second], lambda: print("ready"), print).run())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert done.returncode in (1, 3), done.stderr
    assert "before it served" in done.stdout
    assert "ready" not in done.stdout


def test_a_worker_whose_code_raises_says_so_with_its_traceback(tmp_path: Path) -> None:
    script = """
import socket, sys
from toolspan_server.protocol.http.workers import Workers

def serve(listener, ready, alive):
    raise RuntimeError("a bug")

def say(text):
    print(text, file=sys.stderr)

sys.exit(Workers(serve, [socket.socket()], say, say).run())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert done.returncode == 1
    assert "RuntimeError: a bug" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shares connections out among sockets")
def test_connections_are_shared_out_among_the_sockets_of_one_port() -> None:
    sockets = spread(listen("127.0.0.1", 0), 3)
    try:
        address = sockets[0].getsockname()
        assert {each.getsockname() for each in sockets} == {address}
        clients = [socket.create_connection(address) for _ in range(60)]
        taken = [0, 0, 0]
        for number, each in enumerate(sockets):
            each.setblocking(False)
            while _accepted(each):
                taken[number] += 1
        for client in clients:
            client.close()
        assert sum(taken) == 60
        assert all(taken)
        with pytest.raises(ServeError, match="the port is taken"):
            listen("127.0.0.1", address[1])
    finally:
        for each in sockets:
            each.close()


def _accepted(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def test_workers_without_http_or_without_fork_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = str(write_config(tmp_path))
    assert main(["--workers", "2", "--config", config]) == 2
    assert "--workers needs --transport http" in capfd.readouterr().err
    for wrong in ("0", "x", "-1", "1.5", "1000"):
        assert run(["--workers", wrong], cwd=tmp_path).returncode == 2
    monkeypatch.delattr(os, "fork")
    with pytest.raises(ServeError, match="several ports"):
        check_workers()


def test_what_workers_do_not_share_is_said_before_they_serve(tmp_path: Path) -> None:
    config = tmp_path / "tasks.json"
    slow = {**tool("slow", {"type": "mock"}), "task": {}}
    config.write_text(json.dumps({"tools": {"registry": [slow]}}))
    with http_server(config, "--workers", "2") as server:
        warning, *_ = server.errors.text.splitlines()
    assert warning.startswith("toolspan: warning: with 2 workers, a task is known only to the worker that")


def test_the_next_worker_waits_longer_each_time_one_dies_soon(tmp_path: Path) -> None:
    with workers(tmp_path, TESTS_GRACE_S="1") as server:
        processes(server, 2)
        delays: list[float] = []
        started = time.monotonic()
        while len(delays) < 3:
            for each in processes(server, 2):
                os.kill(each, signal.SIGKILL)
            count = len(delays) + 1
            until(lambda: server.errors.text.count("worker 1 (process") >= count, "the report")  # noqa: B023  # it ends in this round
            lines = [line for line in server.errors.text.splitlines() if "worker 1 (process" in line]
            delays = [float(line.rpartition(" in ")[2].removesuffix(" s")) for line in lines]
        assert delays[:3] == [0.2, 0.4, 0.8]
        assert time.monotonic() - started >= 0.6
