"""What the bodies of unanswered requests may take together; against a real process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.processes import resident
from tests.support.raw_http import Answer, RawClient, request, tool_call, tool_headers
from tests.support.served import Served, http_server, until, write_config
from toolspan_server.http_server.body_budget import weight

MIB = 1024 * 1024
LIMITS = {"connections": 64, "bodies_bytes": 4 * MIB, "message_bytes": MIB, "body_seconds": 60}
BEGUN = request("POST", "/mcp", *tool_headers("echo"), ("content-length", str(MIB))) + b"x" * (MIB - 1)
TOO_MUCH = "take more than 4,194,304 bytes together (limits.bodies_bytes)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    config = write_config(tmp_path_factory.mktemp("bodies"), "wait", limits=LIMITS)
    with http_server(config) as served:
        yield served


def echoed(server: Served, value: str) -> Answer:
    with RawClient(server.address) as client:
        return client.send(tool_call("echo", {"value": value})).answer()


@pytest.mark.requirement("I9.3.21")
def test_unfinished_bodies_make_room_for_others_the_oldest_first(server: Served) -> None:
    with ExitStack() as open_:
        unfinished = [open_.enter_context(RawClient(server.address)).send(BEGUN) for _ in range(6)]
        for first in unfinished[:2]:
            answer = first.answer()
            assert (answer.status, answer.headers["connection"]) == (503, "close")
            assert TOO_MUCH in answer.message["error"]["message"]
        assert echoed(server, "small").status == 200
        assert echoed(server, "x" * 900_000).status == 200


@pytest.mark.requirement("I9.3.21")
def test_bodies_that_are_answered_or_given_up_count_no_more(server: Served) -> None:
    for _ in range(8):
        with RawClient(server.address) as client:
            client.send(BEGUN)
        assert echoed(server, "x" * 900_000).status == 200
    with RawClient(server.address) as client:
        for number in range(12):
            sent = tool_call("echo", {"value": "x" * 900_000}, request_id=number)
            assert client.send(sent).answer().status == 200


@pytest.mark.requirement("I9.3.21")
def test_requests_that_wait_for_their_turn_count_too(server: Served) -> None:
    big = tool_call("wait", {"seconds": 30, "note": "w", "more": "x" * 900_000})
    with ExitStack() as open_:
        waiting = [open_.enter_context(RawClient(server.address)).send(big) for _ in range(4)]
        until(lambda: echoed(server, "x" * 900_000).status == 503, "no room for a large body")
        assert echoed(server, "small").status == 200
        for client in waiting:
            client.close()
    until(lambda: echoed(server, "x" * 900_000).status == 200, "room again")


@pytest.mark.requirement("I9.3.21")
def test_a_body_counts_for_what_it_takes_once_it_is_parsed(server: Served) -> None:
    """A short string is four bytes of JSON and some sixty of memory."""
    head = request("POST", "/mcp", *tool_headers("echo"), ("content-length", str(MIB)))
    with RawClient(server.address) as first, RawClient(server.address) as second:
        first.send(head, b"[" + b'"a",' * 100_000)
        second.send(head, b"[" + b'"a",' * 100_000)
        assert TOO_MUCH in first.answer().message["error"]["message"]


@pytest.mark.requirement("I9.3.21")
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_many_unfinished_bodies_take_what_they_may_together(tmp_path: Path) -> None:
    limits = {"bodies_bytes": 16 * MIB, "body_seconds": 60}
    begun = request("POST", "/mcp", *tool_headers("echo"), ("content-length", str(4 * MIB)))
    with http_server(write_config(tmp_path, limits=limits)) as server, ExitStack() as open_:
        assert echoed(server, "warm").status == 200
        before = resident(server.process.pid)
        for _ in range(40):
            open_.enter_context(RawClient(server.address)).send(begun, b"x" * (4 * MIB - 1))
        assert echoed(server, "small").status == 200
        assert resident(server.process.pid) - before < 80 * MIB


def test_what_is_small_is_weighed_as_it_is() -> None:
    assert weight(b'"a",' * 1_000, 0) == 4_000
    assert weight(b"x" * 1_000_000, 0) == 1_000_000
    assert weight(b'"a",' * 1_000, 20_000) == 4_000 + 64_000
