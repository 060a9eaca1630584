"""Which connections have a place, and which one makes room; the most of it against a real process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.raw_http import RawClient, request, tool_call, tool_headers
from tests.support.served import Served, http_server, until, write_config
from toolspan_server.config import LimitsConfig
from toolspan_server.http_server.connection.admission import Admission, network_of

pytestmark = pytest.mark.long

HEALTH = request("GET", "/healthz")
UNFINISHED = request("POST", "/mcp", *tool_headers("echo"), ("content-length", "60000")) + b"{"
PLACES = 12
LIMITS = {"connections": PLACES, "head_seconds": 3_600, "body_seconds": 3_600, "idle_seconds": 3_600}
PLACE_TAKEN = "its place went to another (limits.connections)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_config(tmp_path_factory.mktemp("admission"), "wait", limits=LIMITS).parent


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with http_server(folder / "toolspan.json") as served:
        yield served


def health(server: Served) -> int:
    with RawClient(server.address) as client:
        return client.send(HEALTH).answer().status


@pytest.mark.requirement("I9.2.12")
@pytest.mark.parametrize("begun", [b"", b"GET /healthz HTTP/1.1\r\n"], ids=["silent", "half a head"])
def test_connections_that_ask_nothing_keep_nobody_out(server: Served, begun: bytes) -> None:
    with ExitStack() as open_:
        silent = [open_.enter_context(RawClient(server.address)).send(begun) for _ in range(3 * PLACES)]
        assert [health(server) for _ in range(PLACES)] == [200] * PLACES
        with RawClient(server.address) as caller:
            assert caller.send(tool_call("echo", {"value": 1})).answer().status == 200
        said = silent[0].rest()
        assert PLACE_TAKEN.encode() in said if begun else said == b""
        until(lambda: "(limits.connections)" in server.errors.text, "a line about it in the log")


@pytest.mark.requirement("I9.2.12")
def test_a_client_that_waits_for_its_answer_keeps_its_place(server: Served) -> None:
    with ExitStack() as open_:
        callers = [open_.enter_context(RawClient(server.address)) for _ in range(PLACES - 1)]
        for caller in callers:
            caller.send(tool_call("wait", {"seconds": 1.0, "note": "w"}))
        for _ in range(3 * PLACES):
            open_.enter_context(RawClient(server.address))
        assert [caller.answer().status for caller in callers] == [200] * len(callers)


@pytest.mark.requirement("I9.2.12")
def test_bodies_that_do_not_come_keep_nobody_out_for_long(server: Served) -> None:
    with ExitStack() as open_:
        slow = [open_.enter_context(RawClient(server.address)).send(UNFINISHED) for _ in range(PLACES)]
        until(lambda: health(server) == 200, "a free place")
        assert PLACE_TAKEN in slow[0].answer().message["error"]["message"]


@pytest.mark.requirement("I9.2.12", "I24.4.2")
def test_connections_that_were_served_make_room_at_once_the_longest_idle_first(server: Served) -> None:
    with ExitStack() as open_:
        idle = [open_.enter_context(RawClient(server.address)) for _ in range(PLACES)]
        for client in idle:
            assert client.send(HEALTH).answer().status == 200
        assert [health(server) for _ in range(3)] == [200] * 3
        assert idle[0].rest() == b""
        assert idle[-1].send(HEALTH).answer().status == 200


@pytest.mark.requirement("I24.4.2")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has every 127.* address")
def test_idle_connections_of_one_address_make_room_within_its_share(tmp_path: Path) -> None:
    config = write_config(tmp_path, limits={**LIMITS, "connections_per_address": 4})
    with http_server(config) as server, ExitStack() as open_:
        other = open_.enter_context(RawClient(server.address, source="127.0.0.3"))
        assert other.send(HEALTH).answer().status == 200
        for _ in range(8):
            own = open_.enter_context(RawClient(server.address, source="127.0.0.2"))
            assert own.send(HEALTH).answer().status == 200
        assert other.send(HEALTH).answer().status == 200


@pytest.mark.requirement("I9.2.12")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has every 127.* address")
def test_one_address_has_its_share_of_the_places_and_no_more(tmp_path: Path) -> None:
    config = write_config(tmp_path, "wait", limits={**LIMITS, "connections_per_address": 4})
    with http_server(config) as server, ExitStack() as open_:
        greedy = [open_.enter_context(RawClient(server.address, source="127.0.0.2")) for _ in range(4)]
        for client in greedy:
            client.send(tool_call("wait", {"seconds": 600, "note": "w"}))
        with RawClient(server.address, source="127.0.0.2") as fifth:
            answer = fifth.answer()
        assert answer.status == 503
        assert "4 connections at once (limits.connections_per_address)" in answer.message["error"]["message"]
        assert health(server) == 200


class Standing:
    """A connection that cannot be spared."""

    def dispensable(self) -> tuple[int, float] | None:
        return None

    def has_unread_input(self) -> bool:
        return False

    def make_room(self) -> None:
        raise AssertionError("it cannot be spared")


class Idle:
    """A connection that has been idle since ``since``; ``asks``: its next request is there, not yet read."""

    def __init__(self, admission: Admission, since: float, *, asks: bool) -> None:
        self._admission, self._since, self._asks = admission, since, asks
        self.is_closed = False

    def dispensable(self) -> tuple[int, float] | None:
        return 1, self._since

    def has_unread_input(self) -> bool:
        return self._asks

    def make_room(self) -> None:
        self.is_closed = True
        self._admission.leave(self)


@pytest.mark.requirement("I24.4.2")
def test_an_idle_connection_whose_next_request_has_arrived_keeps_its_place() -> None:
    admission = Admission(LimitsConfig.initial().model_copy(update={"connections": 4}))
    idle = [Idle(admission, since, asks=since in (0.0, 2.0)) for since in (2.0, 1.0, 0.0, 3.0)]
    for each in idle:
        assert admission.admit(each, "127.0.0.1") is None
    assert [admission.admit(Standing(), "127.0.0.1") for _ in range(2)] == [None, None]
    assert [each.is_closed for each in idle] == [False, True, False, True]
    assert admission.admit(Standing(), "127.0.0.1") is not None


@pytest.mark.requirement("I9.2.12")
@pytest.mark.parametrize(("address", "share"), [("192.0.2.7", 100), ("127.0.0.1", 200), ("::1", 200)])
def test_half_of_the_places_may_be_of_one_address_and_all_of_loopback(address: str, share: int) -> None:
    admission = Admission(LimitsConfig.initial())
    taken = [admission.admit(Standing(), address) for _ in range(share + 1)]
    assert taken[:share] == [None] * share
    assert taken[share] is not None


@pytest.mark.requirement("I9.2.12")
def test_a_place_that_is_left_is_free() -> None:
    admission = Admission(LimitsConfig.initial())
    held = [Standing() for _ in range(100)]
    assert [admission.admit(each, "192.0.2.7") for each in held] == [None] * 100
    admission.leave(held[0])
    admission.leave(held[0])
    assert admission.admit(Standing(), "192.0.2.7") is None
    assert admission.admit(Standing(), "192.0.2.7") is not None


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:0:1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("", ""),
    ],
)
def test_clients_of_one_network_count_as_one(address: str, network: str) -> None:
    assert network_of(address) == network
