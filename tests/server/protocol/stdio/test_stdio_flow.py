"""How much is read, run and written at the same time, and what happens to it at the end of the input."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.piped import answers, cancelled, peak_memory, piped
from tests.support.served import (
    INITIALIZE,
    INITIALIZED,
    Lines,
    StdioServer,
    call,
    command,
    until,
    write_config,
)
from tests.support.waiting import BOUND_S

pytestmark = pytest.mark.long

PING = {"jsonrpc": "2.0", "id": "alive", "method": "ping"}
_ALL_FOR_ONE = {"concurrent_calls_per_target": 16, "concurrent_calls_per_kind": 16}


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


@pytest.mark.requirement("I3.1.2")
def test_ten_thousand_calls_at_once_are_all_answered_within_the_limit(tmp_path: Path) -> None:
    config = write_config(tmp_path, "crowd", limits=_ALL_FOR_ONE)
    calls = [call(number, "crowd") for number in range(10_000)]
    got = answers(piped(config, INITIALIZE, INITIALIZED, *calls))
    most = [int(got[number]["result"]["content"][0]["text"]) for number in range(10_000)]
    assert max(most) == 16


@pytest.mark.requirement("I3.1.2")
def test_beyond_the_queue_requests_wait_to_be_read(tmp_path: Path) -> None:
    limits = {"concurrent_calls": 2, "queued_calls": 3}
    with StdioServer(write_config(tmp_path, "wait", limits=limits)) as server:
        server.handshake()
        server.send(*(call(n, "wait", {"seconds": 0.15, "note": f"n{n}"}) for n in range(8)), PING)
        got = [server.receive()["id"] for _ in range(9)]
        assert sorted(got[:2]) == [0, 1]
        assert got.index("alive") > 2
        assert {*got} == {*range(8), "alive"}


@pytest.mark.requirement("I3.1.2")
def test_a_call_that_still_waits_for_its_turn_can_be_cancelled(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path, "wait", limits={"concurrent_calls": 1})) as server:
        server.handshake()
        server.send(call(1, "wait", {"seconds": 0.5, "note": "first"}))
        until((tmp_path / "first.started").exists, "the call to start")
        server.send(call(2, "wait", {"seconds": 0, "note": "second"}), cancelled(2), call(3, "echo"))
        assert [server.receive()["id"] for _ in range(2)] == [1, 3]
        assert not (tmp_path / "second.started").exists()


@pytest.mark.requirement("I3.1.2")
@pytest.mark.parametrize("more", [{}, {"task": {"ttl": 1}}], ids=["short", "long"])
def test_calls_of_more_than_a_second_answer_after_the_end_of_the_input(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    lines = [call(n, "wait", {"seconds": 1.5, "note": f"n{n}"}, **more) for n in range(3)]
    done = piped(write_config(tmp_path, "wait"), INITIALIZE, INITIALIZED, *lines)
    assert all(answers(done)[n]["result"]["content"][0]["text"] == "waited" for n in range(3))
    assert done.returncode == 0


@pytest.mark.requirement("I3.1.1", "I3.1.2")
@pytest.mark.parametrize("more", [{}, {"task": {"ttl": 1}}], ids=["short", "long"])
@pytest.mark.cold
def test_a_client_that_reads_late_gets_everything_and_memory_stays_bounded(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    read, write = os.pipe()
    process = subprocess.Popen(
        command("--config", write_config(tmp_path, "large", "wait", limits=_ALL_FOR_ONE)),
        stdin=subprocess.PIPE,
        stdout=write,
    )
    os.close(write)
    assert process.stdin is not None
    calls = [call(n, "large", {"size": 500_000}, **more) for n in range(200)]
    last = call("last", "wait", {"seconds": 0, "note": "last"}, **more)
    lines = [json.dumps(each).encode() for each in (INITIALIZE, INITIALIZED, *calls, last)]
    process.stdin.write(b"\n".join(lines))
    process.stdin.close()
    with os.fdopen(read, "rb") as output:
        received = output.read(10_000_000)
        assert not (tmp_path / "last.started").exists()
        received += output.read(80_000_000)
        peak = peak_memory(process.pid)
        received += output.read()
    assert process.wait(BOUND_S) == 0
    got = {json.loads(line)["id"] for line in received.splitlines()}
    assert got == {"init", "last", *range(200)}
    assert peak < 180_000_000


@pytest.mark.requirement("I3.1.2")
def test_a_client_that_does_not_read_the_log_is_served_all_the_same(tmp_path: Path) -> None:
    config = write_config(tmp_path, "fault")
    process = subprocess.Popen(
        command("--config", config), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    lines = [INITIALIZE, INITIALIZED, *(call(n, "fault") for n in range(300)), PING]
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        try:
            process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in lines))
            process.stdin.close()
            assert len(Lines(process.stdout).rest()) == 302
            assert process.wait(BOUND_S) == 0
        finally:
            process.kill()
        assert b"it broke" in process.stderr.read()
