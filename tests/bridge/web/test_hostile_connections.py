"""Bytes that are no good requests, slow clients and many of them: refused or bounded, others are served."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.raw_http import RawClient, chunked, request, statuses
from tests.support.waiting import eventually
from tests.support.web_app import CONFIG, WebApp, web_app

pytestmark = pytest.mark.long

_BIG = "x" * 1_000_000
LIMITED = f"""{CONFIG}
    - name: big
      description: Much
      implementation: {{type: mock, response: "{_BIG}"}}
limits: {{head_seconds: 1, body_seconds: 1, write_seconds: 2, connections: 60, result_bytes: 4000000}}
web: {{requests_per_minute: 1000000, streams: 20}}
"""
_JSON = ("content-type", "application/json")
_TLS = bytes.fromhex("16030100c8010000c40303") + b"\x00" * 189
_H2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_PATHS = ("/ui/", "/api/health", "/v1/models", "/healthz")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    with web_app(tmp_path_factory.mktemp("app"), "--no-open", config=LIMITED, verb="ui") as running:
        yield running
        assert running.process.poll() is None
        assert running.errors.read_text().partition("Traceback")[2] == ""


def _client(app: WebApp, *, receive_buffer: int | None = None) -> RawClient:
    return RawClient(("127.0.0.1", app.port), receive_buffer=receive_buffer)


def _host(app: WebApp) -> tuple[str, str]:
    return ("host", f"127.0.0.1:{app.port}")


def _told(app: WebApp, sent: bytes) -> list[int]:
    with _client(app) as client:
        return statuses(client.send(sent).rest())


def _works(app: WebApp) -> None:
    assert app.ask("GET", "/api/health").status == 200


@pytest.mark.requirement("I15.1.83")
@pytest.mark.parametrize(
    "sent", [_TLS, _H2, b"\x00" * 100, b"hello\r\n\r\n"], ids=["TLS", "h2", "NUL", "words"]
)
def test_what_is_no_http_is_400_and_closed(app: WebApp, sent: bytes) -> None:
    assert _told(app, sent) in ([400], [505])
    _works(app)


@pytest.mark.requirement("I15.1.83")
@pytest.mark.parametrize("path", _PATHS)
def test_a_head_that_is_too_large_or_ambiguous_is_refused(app: WebApp, path: str) -> None:
    host = f"Host: 127.0.0.1:{app.port}\r\n".encode()
    line = f"POST {path} HTTP/1.1\r\n".encode() + host + b"Content-Type: application/json\r\n"
    for head, expected in (
        (b"X: " + b"a" * 100_000 + b"\r\n", {431}),
        (b"X: a\r\n" * 5_000, {431}),
        (b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", {400}),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n", {400}),
        (b"Content-Length: -1\r\n", {400}),
        (b"Content-Length: 2\r\n folded: x\r\n", {400}),
        (b"X: a\x00b\r\n", {400}),
        (b"Transfer-Encoding: gzip, chunked\r\n", {400}),
        (host, {400, 421}),
    ):
        found = _told(app, line + head + b"\r\n{}")
        assert len(found) == 1 and found[0] in expected, (head[:40], found)
    assert _told(app, f"GET {path} HTTP/1.1\n".encode() + host + b"\n") in ([400], [200])
    _works(app)


@pytest.mark.requirement("I15.1.83")
def test_half_a_head_and_half_a_body_are_given_up_after_their_time(app: WebApp) -> None:
    for path in ("/api/tools/call", "/v1/chat/completions"):
        with _client(app) as half_head, _client(app) as half_body:
            half_head.send(f"POST {path} HTTP/1.1\r\nHost: x".encode())
            half_body.send(request("POST", path, _JSON, ("content-length", "100"), host=_host(app)), b'{"a"')
            assert statuses(half_head.rest()) == [408]
            assert statuses(half_body.rest()) == [408]
    _works(app)


@pytest.mark.requirement("I15.1.83")
def test_requests_one_behind_another_are_answered_in_order(app: WebApp) -> None:
    body = json.dumps({"name": "get_weather", "arguments": {"city": "Oslo"}}).encode()
    with _client(app) as client:
        client.send(
            request("POST", "/api/tools/call", _JSON, body=body, host=_host(app)),
            request("GET", "/api/health", host=_host(app)),
            request("POST", "/api/tools/call", _JSON, ("transfer-encoding", "chunked"), host=_host(app)),
            chunked(body[:10], body[10:]),
            request("GET", "/api/nothing", host=_host(app)),
        )
        found = client.answers(4)
    assert [each.status for each in found] == [200, 200, 200, 404]
    assert found[0].message["result"] == found[2].message["result"] == {"temperature": 21}


@pytest.mark.requirement("I15.1.83")
def test_a_client_that_reads_nothing_is_let_go_and_others_are_served(app: WebApp) -> None:
    body = json.dumps({"name": "big"}).encode()
    asked = request("POST", "/api/tools/call", _JSON, body=body, host=_host(app))
    with ExitStack() as stack:
        deaf = [stack.enter_context(_client(app, receive_buffer=4_096)) for _ in range(5)]
        for each in deaf:
            each.send(asked * 10)
        _works(app)
        assert eventually(lambda: "took too little of its answer" in app.errors.read_text())
        _works(app)


@pytest.mark.requirement("I15.1.84")
def test_streams_of_one_caller_are_bounded_and_leave_room_for_requests(app: WebApp) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(_client(app)) for _ in range(25)]
        for each in clients:
            each.send(request("GET", "/api/events", host=_host(app)))
        heads = [each.line(b"HTTP/1.1") for each in clients]
        assert sum(b" 200 " in head for head in heads) == 20
        assert sum(b" 429 " in head for head in heads) == 5
        _works(app)
    assert eventually(lambda: _told_of_stream(app) == 200)


@pytest.mark.requirement("I15.1.84")
def test_more_connections_than_are_allowed_are_503_and_those_that_ask_are_served(app: WebApp) -> None:
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(_client(app))
        _works(app)
        assert app.ask("GET", "/v1/models").status == 200


@pytest.mark.requirement("I15.1.84")
def test_a_signal_ends_it_amid_all_of_that(tmp_path: Path) -> None:
    with web_app(tmp_path, "--no-open", config=LIMITED, verb="ui") as app, ExitStack() as stack:
        followers = [stack.enter_context(_client(app)) for _ in range(10)]
        for each in followers:
            each.send(request("GET", "/api/events", host=_host(app)))
            each.line(b"HTTP/1.1 200")
        stack.enter_context(_client(app)).send(b"POST /api/tools/call HTTP/1.1\r\n")
        slow = stack.enter_context(_client(app, receive_buffer=4_096))
        body = json.dumps({"name": "big"}).encode()
        slow.send(request("POST", "/api/tools/call", _JSON, body=body, host=_host(app)) * 5)
        assert app.end(signal.SIGTERM) == 0
        assert "Traceback" not in app.errors.read_text()


def _told_of_stream(app: WebApp) -> int:
    with _client(app) as client:
        head = client.send(request("GET", "/api/events", host=_host(app))).line(b"HTTP/1.1")
    return int(head.split()[1])
