"""A connection between two requests: how long it stays, what its client is told, and that no request is lost
with it; in bytes, against a real process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.raw_http import RawClient, request, tool_call
from tests.support.served import Served, http_server, until, write_config
from toolspan_server.config import LimitsConfig

HEALTH = request("GET", "/healthz")
CLOSE = ("connection", "close")
LONGEST_KEPT_BY_PROXIES_S = 60
SHORT_S = 2.0
PARTS = (0, 40, -5)
"""How much of a request is sent before: nothing, a part of its head, all but the end of its body."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with http_server(write_config(tmp_path_factory.mktemp("idle"))) as served:
        yield served


@pytest.mark.requirement("I9.3.30")
@pytest.mark.parametrize("sent", [tool_call("echo", {"value": 1}), HEALTH], ids=["a call", "another route"])
def test_every_answer_says_for_how_long_its_connection_may_be_reused(server: Served, sent: bytes) -> None:
    with RawClient(server.address) as client:
        answers = [client.send(sent).answer() for _ in range(3)]
    told = [(answer.headers.get("connection"), answer.headers.get("keep-alive")) for answer in answers]
    assert told == [("keep-alive", "timeout=37")] * 3


LAST = {
    "the client closes": tool_call("echo", {"value": 1}, CLOSE),
    "the client speaks HTTP/1.0": request("GET", "/healthz", version="HTTP/1.0"),
    "the guard refuses": request("GET", "/healthz", host=("host", "elsewhere.example")),
    "the parser refuses": b"GET\r\n\r\n",
}


@pytest.mark.requirement("I9.3.30")
@pytest.mark.parametrize("why", LAST)
def test_the_last_answer_of_a_connection_says_nothing_of_its_reuse(server: Served, why: str) -> None:
    said = server.exchange(LAST[why]).lower()
    assert said.count(b"\r\nconnection: ") == 1
    assert b"\r\nconnection: close\r\n" in said
    assert b"keep-alive" not in said


@pytest.mark.requirement("I9.3.30")
@pytest.mark.parametrize(("kept", "told"), [(0.5, 1), (5, 2), (300, 150)])
def test_a_client_is_told_half_of_the_idle_time(tmp_path: Path, kept: float, told: int) -> None:
    config = write_config(tmp_path, limits={"idle_seconds": kept})
    with http_server(config) as server, RawClient(server.address) as client:
        assert client.send(HEALTH).answer().headers["keep-alive"] == f"timeout={told}"


@pytest.mark.requirement("I9.3.30")
def test_a_connection_outlasts_those_of_common_proxies() -> None:
    assert LimitsConfig().idle_seconds > LONGEST_KEPT_BY_PROXIES_S


@pytest.mark.long
@pytest.mark.requirement("I9.3.30")
def test_a_client_that_was_busy_for_eight_seconds_may_still_use_its_connection(server: Served) -> None:
    with RawClient(server.address) as client:
        assert client.send(HEALTH).answer().status == 200
        time.sleep(8)
        assert client.send(HEALTH).answer().status == 200


@pytest.mark.long
@pytest.mark.requirement("I9.3.30")
def test_what_came_while_the_server_stood_still_is_read_before_a_deadline_is_held_against_its_client(
    tmp_path: Path,
) -> None:
    limits = {"idle_seconds": SHORT_S, "head_seconds": SHORT_S, "body_seconds": SHORT_S}
    call = tool_call("echo", {"value": 1})
    with ExitStack() as stack:
        server = stack.enter_context(http_server(write_config(tmp_path, "hold", limits=limits)))
        holder, *late = (stack.enter_context(RawClient(server.address)) for _ in range(4))
        assert [client.send(HEALTH).answer().status for client in late] == [200] * 3
        for client, first in zip(late, PARTS, strict=True):
            client.send(call[:first])
        assert holder.send(tool_call("hold", {"seconds": 0})).answer().status == 200
        holder.send(tool_call("hold", {"seconds": SHORT_S + 0.2}))
        until((tmp_path / "held").exists, "the process to stand still")
        for client, first in zip(late, PARTS, strict=True):
            client.send(call[first:])
        assert [client.answer().status for client in (holder, *late)] == [200] * 4
