"""How long the HTTP server waits for a client, and how long it does not; in bytes, against a real process."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.limited import LIMITS, alive, limited_server
from tests.support.raw_http import RawClient, request, statuses, tool_body, tool_call, tool_headers
from tests.support.served import (
    BOUND_S,
    INITIALIZE,
    INITIALIZED,
    Served,
    call,
    http_server,
    until,
    write_config,
)
from toolspan_server.http_server.connection.read_progress import ReadProgress

pytestmark = pytest.mark.long

JSON = ("content-type", "application/json")
HEALTH = request("GET", "/healthz")
WAIT = tool_call("wait", {"seconds": 600, "note": "held"})
CHUNKS = request("POST", "/mcp", *tool_headers("echo"), ("transfer-encoding", "chunked"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("limited")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with limited_server(folder) as served:
        yield served


@pytest.fixture
def client(server: Served) -> Iterator[RawClient]:
    with RawClient(server.address) as client:
        yield client


@pytest.mark.requirement("I3.2.1", "I3.2.2")
@pytest.mark.parametrize("after", [b"", HEALTH, HEALTH * 60], ids=["alone", "with another", "with sixty"])
def test_a_client_that_leaves_ends_its_call_also_when_more_requests_wait(
    server: Served, folder: Path, after: bytes
) -> None:
    note = f"left-{len(after)}"
    with RawClient(server.address) as client:
        client.send(tool_call("wait", {"seconds": 60, "note": note}) + after)
        until((folder / f"{note}.started").exists, "the call to start")
    until((folder / note).exists, "the handler's cancellation")


@pytest.mark.requirement("I3.2.1")
def test_a_large_request_may_wait_its_turn_for_longer_than_its_deadline(client: RawClient) -> None:
    body = tool_body("echo", {"value": 1})
    body += b" " * (int(LIMITS["message_bytes"]) - len(body))
    first = tool_call("wait", {"seconds": 1.2, "note": "turn"})
    client.send(first, request("POST", "/mcp", *tool_headers("echo"), body=body))
    assert [answer.status for answer in client.answers(2)] == [200, 200]


@pytest.mark.requirement("I3.2.1")
def test_the_time_for_the_first_head_begins_with_the_connection(tmp_path: Path) -> None:
    config = write_config(tmp_path, limits={"head_seconds": 1.0})
    with http_server(config) as server, RawClient(server.address) as first:
        time.sleep(0.4)
        with RawClient(server.address) as second:
            time.sleep(0.4)
            first.send(b"GET / HTTP/1.1\r\n")
            assert second.rest() == b""
        assert alive(server)
        assert first.has_ended()


NEVER_ENDING = request("POST", "/mcp", *tool_headers("echo"), ("content-length", "60000"))
LATE_HEAD = b"The head took longer than 2.0 s (limits.head_seconds)"
LATE_BODY = b"The body took longer than 2.5 s (limits.body_seconds)"
SLOW: dict[str, tuple[bytes, list[bytes], float, bytes]] = {
    "nothing at all": (b"", [], 2.0, b""),
    "empty lines": (b"", [b"\r\n"], 2.0, b""),
    "a head in drips": (b"GET /healthz HTTP/1.1\r\nx:", [b"a"], 2.0, LATE_HEAD),
    "headers in drips": (b"GET /healthz HTTP/1.1\r\n", [b"x: y\r\n"], 2.0, LATE_HEAD),
    "a second head in drips": (HEALTH + b"GET", [b" "], 2.0, LATE_HEAD),
    "a body in drips": (NEVER_ENDING, [b" "], 2.5, LATE_BODY),
    "a body that never comes": (NEVER_ENDING, [], 2.5, LATE_BODY),
    "chunks in drips": (CHUNKS, [b"1\r\n \r\n"], 2.5, LATE_BODY),
    "chunk sizes in drips": (CHUNKS, [b"0"], 2.5, LATE_BODY),
    "a body after its refusal": (NEVER_ENDING.replace(b"/mcp", b"/none"), [b" "], 0.0, b""),
    "no second request": (HEALTH, [], 2.0, b""),
    "empty lines after the first request": (HEALTH, [b"\r\n"], 2.0, b""),
}


@pytest.fixture(scope="module")
def stays(server: Served) -> dict[str, tuple[float, bytes]]:
    """How long each slow client could stay and what it was told, all of them at the same time."""

    def stay(form: str) -> tuple[float, bytes]:
        first, drips, *_ = SLOW[form]
        started = time.monotonic()
        with RawClient(server.address) as client:
            told = client.send(first).drip(drips, every=0.1)
        return time.monotonic() - started, told

    with ThreadPoolExecutor(len(SLOW)) as pool:
        return dict(zip(SLOW, pool.map(stay, SLOW), strict=True))


@pytest.mark.requirement("I3.2.1", "I3.5.1")
@pytest.mark.parametrize("form", SLOW)
def test_a_slow_client_does_not_hold_its_place(
    server: Served, stays: dict[str, tuple[float, bytes]], form: str
) -> None:
    *_, least, words = SLOW[form]
    lasted, told = stays[form]
    assert lasted >= least * 0.9
    assert words in told
    assert alive(server)


@pytest.mark.requirement("I3.2.1", "I3.5.1")
@pytest.mark.parametrize("count", [1, 8])
def test_a_client_that_does_not_read_is_let_go(server: Served, count: int) -> None:
    before = server.errors.text.count("limits.write_seconds")
    with RawClient(server.address, receive_buffer=4_096) as client:
        client.send(tool_call("large", {"size": 12_000_000}) * count)
        until(lambda: server.errors.text.count("limits.write_seconds") > before, "the end of the wait")
        until(lambda: alive(server), "the next answer")
        said = client.rest()
    assert len(said) < 12_000_000


@pytest.mark.requirement("I3.2.1")
def test_a_client_that_reads_slowly_but_does_read_is_not_late() -> None:
    taking = ReadProgress(seconds=10)
    whole, taken = 14_000_000, 0
    for second in range(0, 2_000, 9):
        assert not taking.is_late(second, whole, whole - taken)
        taken += 65_536
    assert not taking.is_late(2_000, whole, 0)


@pytest.mark.requirement("I3.2.1")
def test_a_client_that_takes_less_than_64_kib_in_its_time_is_late() -> None:
    taking = ReadProgress(seconds=10)
    assert not taking.is_late(0, 1_000_000, 1_000_000)
    assert not taking.is_late(9.9, 1_000_000, 1_000_000 - 65_535)
    assert taking.is_late(10, 1_000_000, 1_000_000 - 65_535)


@pytest.mark.requirement("I3.2.1")
def test_no_deadline_concerns_how_long_an_answer_takes(client: RawClient) -> None:
    call_ = tool_call("wait", {"seconds": 3, "note": "long"})
    assert client.send(call_).answer().message["result"]["structuredContent"] == "waited"


@pytest.mark.requirement("I3.2.1")
def test_a_stream_that_is_silent_for_long_is_still_served(server: Served, client: RawClient) -> None:
    client.send(request("GET", "/sse"))
    endpoint = client.line(b"data: ").removeprefix(b"data: ").decode()
    client.socket.settimeout(3)
    with pytest.raises(TimeoutError):
        client.line(b"data: ")
    client.socket.settimeout(BOUND_S)
    ping = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
    with RawClient(server.address) as other:
        assert other.send(request("POST", endpoint, JSON, body=ping)).answer().status == 202
    assert b'"id":7' in client.line(b"data: ")


def said_to_another(server: Served) -> str:
    """What one more client is told, or nothing if there is a place for it."""
    with RawClient(server.address) as client:
        answer = client.send(HEALTH).answer()
    return "" if answer.status == 200 else str(answer.message["error"]["message"])


@pytest.mark.requirement("I3.2.1", "I3.5.1")
def test_one_connection_too_many_is_told_so(folder: Path) -> None:
    with http_server(folder / "toolspan.json") as server:
        held = [RawClient(server.address).send(WAIT) for _ in range(20)]
        try:
            until(lambda: "(limits.connections)" in said_to_another(server), "a refusal")
            held.pop().close()
            until(lambda: statuses(server.exchange(HEALTH))[:1] == [200], "a free place")
        finally:
            for client in held:
                client.close()


@pytest.mark.requirement("I9.2.11")
def test_a_stream_whose_client_reads_nothing_ends_before_much_waits_for_it(tmp_path: Path) -> None:
    limits = {"result_bytes": 4_000_000, "write_seconds": 60, "idle_seconds": 60}
    with (
        http_server(write_config(tmp_path, "large", limits=limits)) as server,
        RawClient(server.address, receive_buffer=4_096) as deaf,
        RawClient(server.address) as poster,
    ):
        deaf.send(request("GET", "/sse", ("accept", "text/event-stream")))
        endpoint = deaf.line(b"data: ").removeprefix(b"data: ").decode()
        poster.send(request("POST", endpoint, JSON, body=json.dumps(INITIALIZE).encode())).answer()
        poster.send(request("POST", endpoint, JSON, body=json.dumps(INITIALIZED).encode())).answer()
        for number in range(30):
            body = json.dumps(call(number, "large", {"size": 1_000_000})).encode()
            server.exchange(request("POST", endpoint, JSON, ("connection", "close"), body=body))
        until(lambda: "unread" in server.errors.text, "the end of the stream")
        assert alive(server)
        told = request("POST", endpoint, JSON, ("connection", "close"), body=b"{}")
        until(lambda: statuses(server.exchange(told)) == [404], "the end of the session")


def test_the_server_ends_in_time_with_every_sort_of_connection_open(folder: Path) -> None:
    with http_server(folder / "toolspan.json") as server:
        clients = [
            RawClient(server.address).send(sent)
            for sent in (b"", b"GET /", NEVER_ENDING, request("GET", "/sse"), HEALTH, b"\x00\r\n\r\n")
        ]
        deaf = RawClient(server.address, receive_buffer=4_096)
        deaf.send(tool_call("large", {"size": 12_000_000}))
        assert alive(server)
        server.stop()
        assert server.process.returncode == 0
        for client in (*clients, deaf):
            client.close()
