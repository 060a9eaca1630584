"""What the HTTP server takes of a connection, and how long it waits; in bytes, against a real process."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.limited import LIMITS, alive, limited_server
from tests.support.raw_http import (
    RawClient,
    chunked,
    request,
    statuses,
    tool_body,
    tool_call,
    tool_headers,
)
from tests.support.served import BOUND_S, Served, call, http_server

JSON = ("content-type", "application/json")
HEALTH = request("GET", "/healthz")
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


def post(*headers: tuple[str, str], framing: bytes, body: bytes = b"") -> bytes:
    head = request("POST", "/mcp", JSON, *headers).removesuffix(b"\r\n")
    return head + framing + b"\r\n\r\n" + body


def test_a_plain_request_is_answered(client: RawClient) -> None:
    answer = client.send(tool_call("echo", {"value": 1})).answer()
    assert (answer.status, answer.message["result"]["structuredContent"]) == (200, 1)


UNCLEAR = {
    "folded header": request("GET", "/healthz", ("x", "a\r\n b")),
    "folded first header": b"GET /healthz HTTP/1.1\r\n host: localhost\r\n\r\n",
    "NUL in a value": request("GET", "/healthz", ("x", "a\0b")),
    "NUL in a name": request("GET", "/healthz", ("x\0", "a")),
    "control character": request("GET", "/healthz", ("x", "a\x01")),
    "bare LF": b"GET /healthz HTTP/1.1\nhost: localhost\n\n",
    "one bare LF": b"GET /healthz HTTP/1.1\r\nhost: localhost\nx: y\r\n\r\n",
    "bare CR": b"GET /healthz HTTP/1.1\r\nhost: localhost\rx: y\r\n\r\n",
    "space before the colon": b"GET /healthz HTTP/1.1\r\nhost : localhost\r\n\r\n",
    "no name": request("GET", "/healthz", ("", "a")),
    "no colon": b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nabc\r\n\r\n",
    "no host": request("GET", "/healthz", host=None),
    "two hosts": request("GET", "/healthz", ("Host", "localhost")),
    "length and chunks": post(framing=b"content-length: 5\r\ntransfer-encoding: chunked", body=b"0\r\n\r\n"),
    "chunks and length": post(framing=b"transfer-encoding: chunked\r\ncontent-length: 5", body=b"0\r\n\r\n"),
    "two lengths": post(framing=b"content-length: 2\r\ncontent-length: 2", body=b"{}"),
    "a list of lengths": post(framing=b"content-length: 2, 2", body=b"{}"),
    "negative length": post(framing=b"content-length: -2", body=b"{}"),
    "length with a sign": post(framing=b"content-length: +2", body=b"{}"),
    "empty length": post(framing=b"content-length:", body=b"{}"),
    "length past all numbers": post(framing=b"content-length: " + b"9" * 40, body=b"{}"),
    "encoded body": post(framing=b"transfer-encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "unknown framing": post(framing=b"transfer-encoding: xchunked", body=b"0\r\n\r\n"),
    "chunked twice": post(
        framing=b"transfer-encoding: chunked\r\ntransfer-encoding: chunked", body=b"0\r\n\r\n"
    ),
    "odd chunk size": post(framing=b"transfer-encoding: chunked", body=b"0x2\r\n{}\r\n0\r\n\r\n"),
    "chunk longer than said": post(framing=b"transfer-encoding: chunked", body=b"2\r\n{}}\r\n0\r\n\r\n"),
    "absolute target": request("GET", "http://evil.example/healthz"),
    "asterisk": request("OPTIONS", "*"),
    "tunnel": request("CONNECT", "evil.example:80"),
    "tunnel to a path": request("CONNECT", "/mcp"),
    "tunnel to a URL": request("CONNECT", "http://evil.example/"),
    "tunnel to nothing": request("CONNECT", "*"),
    "tunnel with an offer": request("CONNECT", "/mcp", ("connection", "upgrade"), ("upgrade", "h2c")),
    "tunnel with a body": request("CONNECT", "/mcp", ("content-length", "5")) + b"hello",
    "tunnel of HTTP/1.0": request("CONNECT", "/mcp", version="HTTP/1.0"),
    "space in the target": request("GET", "/a b"),
    "unknown method": request("BREW", "/healthz"),
    "TLS": bytes.fromhex("160301020001000 1fc".replace(" ", "")) + b"\x03\x03" + bytes(range(64)),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    "random": bytes.fromhex("8f3ac2b1ff00e99d4d5a90000300000004000000ffff"),
    "a JSON line": b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
}


@pytest.mark.requirement("I3.2.1", "I3.5.1")
@pytest.mark.parametrize("name", UNCLEAR)
def test_what_no_two_programs_read_alike_is_refused_and_the_connection_closed(
    server: Served, client: RawClient, name: str
) -> None:
    said = client.send(UNCLEAR[name], HEALTH).rest()
    assert statuses(said) == [400]
    assert b"connection: close" in said
    assert alive(server)


@pytest.mark.requirement("I3.2.1")
@pytest.mark.parametrize("version", ["HTTP/0.9", "HTTP/2.0"])
def test_another_version_of_http_is_named_as_such(client: RawClient, version: str) -> None:
    assert statuses(client.send(request("GET", "/healthz", version=version)).rest()) == [505]


@pytest.mark.parametrize("protocol", ["h2c", "websocket"])
def test_the_offer_of_another_protocol_is_declined_by_going_on(client: RawClient, protocol: str) -> None:
    """Java's client offers HTTP/2 with every first request."""
    offer = (("connection", "upgrade"), ("upgrade", protocol))
    client.send(tool_call("echo", {"value": 1}, *offer), request("GET", "/healthz", *offer), HEALTH)
    called, *healths = client.answers(3)
    assert called.message["result"]["structuredContent"] == 1
    assert [health.status for health in healths] == [200, 200]


@pytest.mark.requirement("I3.5.1")
def test_a_foreign_protocol_leaves_one_line_in_the_log(folder: Path) -> None:
    with http_server(folder / "toolspan.json") as server:
        for name in ("TLS", "HTTP/2", "random"):
            assert statuses(server.exchange(UNCLEAR[name])) == [400]
        assert alive(server)
        server.stop()
        _ready, *lines = server.errors.rest()
    assert len(lines) == 3
    assert all(b"Refused a request: 400" in line for line in lines)


@pytest.mark.requirement("I9.3.18")
@pytest.mark.parametrize("name", ["mcp-protocol-version", "Mcp-Method", "mcp-name"])
def test_a_header_of_the_protocol_that_comes_twice_is_refused(client: RawClient, name: str) -> None:
    value = dict(tool_headers("echo"))[name.lower()]
    answer = client.send(tool_call("echo", {"value": 1}, (name, value))).answer()
    assert (answer.status, answer.message["error"]["code"]) == (400, -32020)


@pytest.mark.requirement("I9.3.18")
def test_what_is_accepted_may_be_on_two_lines(client: RawClient) -> None:
    headers = [each for each in tool_headers("echo") if each[0] != "accept"]
    accepted = (("accept", "application/json"), ("accept", "text/event-stream"))
    sent = request("POST", "/mcp", *headers, *accepted, body=tool_body("echo", {"value": 1}))
    assert client.send(sent).answer().status == 200


METHODS = (
    *("ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH"),
    *("MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PRI"),
    *("PROPFIND", "PROPPATCH", "PURGE", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "SOURCE", "SUBSCRIBE"),
    *("TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE"),
)
TARGETS = (
    "/mcp",
    "/",
    "//",
    "/sse",
    "/messages/",
    "/nowhere",
    "http://localhost/mcp",
    "localhost:80",
    "*",
    "?a",
)


@pytest.mark.requirement("I9.1.2")
def test_any_method_with_any_target_is_answered_once_with_at_most_a_line_in_the_log(folder: Path) -> None:
    forms = [
        (method, target) for method in METHODS for target in TARGETS if (method, target) != ("GET", "/sse")
    ]
    with http_server(folder / "toolspan.json") as server:
        for method, target in forms:
            said = server.exchange(request(method, target, ("connection", "close")))
            assert len(statuses(said)) == 1, (method, target)
        assert alive(server)
        server.stop()
        _ready, *lines = server.errors.rest()
    assert len(lines) <= len(forms)
    assert max(map(len, lines)) < 250


@pytest.mark.requirement("I9.1.2")
def test_many_offers_of_another_protocol_in_one_packet_are_declined_one_by_one(client: RawClient) -> None:
    offer = request("GET", "/healthz", ("connection", "upgrade"), ("upgrade", "h2c"))
    answers = client.send(offer * 30).answers(30)
    assert [answer.status for answer in answers] == [200] * 30


@pytest.mark.requirement("I9.1.2")
def test_more_offers_than_may_wait_leave_one_line(folder: Path) -> None:
    offer = request("GET", "/healthz", ("connection", "upgrade"), ("upgrade", "h2c"))
    with http_server(folder / "toolspan.json") as server:
        assert 429 in statuses(server.exchange(offer * 2_000))
        assert alive(server)
        server.stop()
        _ready, *lines = server.errors.rest()
    assert len(lines) == 1


def test_an_offer_that_is_declined_does_not_undo_the_wish_to_close(server: Served) -> None:
    both = (("connection", "upgrade, close"), ("upgrade", "h2c"))
    assert statuses(server.exchange(request("GET", "/healthz", *both) + HEALTH)) == [200]


def test_a_tls_client_learns_at_once_that_there_is_no_tls(server: Served) -> None:
    context = ssl.create_default_context()
    with socket.create_connection(server.address, BOUND_S) as connection, pytest.raises(ssl.SSLError):
        context.wrap_socket(connection, server_hostname="localhost")


def test_a_flood_of_nonsense_does_not_flood_the_log(server: Served) -> None:
    before = server.errors.text.count("Refused")
    for _ in range(60):
        assert statuses(server.exchange(b"\x00\x00\r\n\r\n")) == [400]
    assert server.errors.text.count("Refused") - before <= 40


@pytest.mark.requirement("I3.2.1", "I3.5.1")
@pytest.mark.parametrize(
    "sent",
    [
        request("GET", "/healthz", ("x", "a" * 100_000)),
        request("GET", "/healthz", *[("x", "a")] * 5_000),
        request("GET", "/healthz", *[(f"x-{number}", "") for number in range(41)]),
        request("GET", "/healthz?" + "a" * 8_192),
        request("GET", "/" + "a" * 1_000_000),
        request("GET", "/healthz", ("a" * 400_000, "")),
    ],
    ids=["100 KB header", "5,000 headers", "41 headers", "long target", "1 MB target", "400 KB name"],
)
def test_a_large_head_is_refused_with_the_limits(client: RawClient, sent: bytes) -> None:
    answer = client.send(sent).answer()
    assert answer.status == 431
    assert "8192 bytes (limits.header_bytes)" in answer.message["error"]["message"]
    assert "40 headers (limits.headers)" in answer.message["error"]["message"]


def test_a_head_within_the_limits_is_read_however_it_is_cut(client: RawClient) -> None:
    sent = request("GET", "/healthz?" + "a" * 3_000, ("x", "b" * 3_000))
    for start in range(0, len(sent), 1_000):
        client.send(sent[start : start + 1_000])
    assert client.answer().status == 200


@pytest.mark.requirement("I3.2.1", "I3.5.1")
@pytest.mark.parametrize("path", ["/mcp", "/messages/", "/sse", "/healthz", "/nothing"])
@pytest.mark.parametrize("form", ["declared", "chunked", "in tiny chunks"])
def test_a_large_body_is_refused_on_every_route_before_it_is_read(
    server: Served, path: str, form: str
) -> None:
    limit, headers = int(LIMITS["message_bytes"]), tool_headers("echo")
    with RawClient(server.address) as client:
        if form == "declared":
            client.send(request("POST", path, *headers, body=b" " * (limit + 1)))
        else:
            size = 4_096 if form == "chunked" else 1
            client.send(request("POST", path, *headers, ("transfer-encoding", "chunked")))
            for _ in range(50):
                client.send(chunked(*[b" " * size] * (8_192 // size)).removesuffix(b"0\r\n\r\n"))
        said = client.rest()
    assert statuses(said)[0] in (404, 405, 413)
    assert len(statuses(said)) == 1
    if path == "/mcp":
        assert b"at most 400000 bytes (limits.message_bytes)" in said
    assert alive(server)


def test_a_body_that_is_as_large_as_allowed_is_read(client: RawClient) -> None:
    body = tool_body("echo", {"value": 1})
    body += b" " * (int(LIMITS["message_bytes"]) - len(body))
    assert client.send(request("POST", "/mcp", *tool_headers("echo"), body=body)).answer().status == 200
    head = request("POST", "/mcp", *tool_headers("echo"), ("transfer-encoding", "chunked"))
    assert client.send(head, chunked(body[:40_000], body[40_000:])).answer().status == 200


@pytest.mark.requirement("I3.2.1")
@pytest.mark.parametrize("trailer", ["origin: https://evil.example", "host: localhost", "x: y"])
def test_trailers_never_become_headers(client: RawClient, trailer: str) -> None:
    body = chunked(tool_body("echo", {"value": 1}), trailers=f"{trailer}\r\n".encode())
    assert client.send(CHUNKS + body).answer().status == 200
    assert client.send(HEALTH).answer().status == 200


def test_a_client_that_asks_first_is_told_to_send_its_body_or_not(client: RawClient) -> None:
    body = tool_body("echo", {"value": 1})
    head = request("POST", "/mcp", *tool_headers("echo"), ("expect", "100-continue"), body=body)
    assert client.send(head.removesuffix(body)).answer().status == 100
    assert client.send(body).answer().status == 200
    head = request("POST", "/mcp", JSON, ("expect", "100-continue"), ("content-length", "99999999"))
    assert client.send(head).answer().status == 413


def test_http_1_0_is_answered_and_closed(server: Served) -> None:
    assert statuses(server.exchange(request("GET", "/healthz", version="HTTP/1.0"))) == [200]


def test_requests_in_one_packet_are_answered_in_order(client: RawClient) -> None:
    calls = [tool_call("echo", {"value": number}, request_id=number) for number in range(20)]
    answers = client.send(b"".join(calls)).answers(20)
    assert [answer.message["id"] for answer in answers] == list(range(20))


@pytest.mark.requirement("I3.2.1")
def test_what_comes_before_nonsense_is_answered_first(client: RawClient) -> None:
    said = client.send(tool_call("wait", {"seconds": 0.2, "note": "x"}) + HEALTH + b"\x00\x00\r\n\r\n").rest()
    assert statuses(said) == [200, 200, 400]


@pytest.mark.requirement("I3.2.1")
def test_only_so_many_requests_wait_on_one_connection(server: Served, client: RawClient) -> None:
    first = tool_call("wait", {"seconds": 0.3, "note": "x"})
    said = client.send(first, HEALTH * 500).rest()
    answered = statuses(said)
    assert answered == [200] * 65 + [429]
    assert alive(server)


def test_a_tool_does_not_run_when_its_request_breaks_off(server: Served, client: RawClient) -> None:
    head = request("POST", "/mcp", *tool_headers("fault"), ("transfer-encoding", "chunked"))
    broken = chunked(tool_body("fault")).removesuffix(b"0\r\n\r\n") + b"rubbish\r\n"
    assert statuses(client.send(head + broken).rest()) == [400]
    assert alive(server)
    assert "it broke" not in server.errors.text


@pytest.mark.requirement("I3.2.1")
def test_a_refusal_reaches_a_client_that_sends_all_before_it_reads(server: Served) -> None:
    with RawClient(server.address) as client:
        evil = ("origin", "https://evil.example")
        client.send(request("POST", "/mcp", JSON, evil, ("content-length", "60000")))
        client.socket.recv(1, socket.MSG_PEEK)
        for _ in range(20):
            client.socket.sendall(b" " * 1_000)
        assert client.answer().status == 403
        assert client.rest() == b""


@pytest.mark.requirement("I3.2.1")
def test_a_body_that_goes_wrong_after_its_answer_gets_no_second_one(client: RawClient) -> None:
    head = request("POST", "/mcp", JSON, ("accept", "text/html"), ("transfer-encoding", "chunked"))
    assert client.send(head).answer().status == 406
    assert client.send(b"rubbish\r\n").rest() == b""


def test_a_body_that_comes_after_its_answer_is_skipped(client: RawClient) -> None:
    head = request("POST", "/mcp", JSON, ("accept", "text/html"), ("transfer-encoding", "chunked"))
    assert client.send(head).answer().status == 406
    assert client.send(chunked(b"{}"), HEALTH).answer().status == 200


@pytest.mark.requirement("I3.2.1")
@pytest.mark.parametrize(
    ("first", "endless", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nx: ", b"a", 431),
        (b"GET /", b"a", 431),
        (CHUNKS + b"1;", b"a", 413),
        (CHUNKS + b"0\r\nx: ", b"a", 413),
    ],
    ids=["value", "target", "chunk extension", "trailer"],
)
def test_what_never_ends_is_not_kept(server: Served, first: bytes, endless: bytes, status: int) -> None:
    with RawClient(server.address) as client:
        client.send(first)
        for _ in range(40):
            client.send(endless * 65_536)
        assert client.answer().status == status


@pytest.mark.requirement("I3.2.1")
def test_the_bodies_that_wait_are_bounded_together(server: Served) -> None:
    waiting = request("POST", "/mcp", *tool_headers("echo"), body=b" " * 60_000)
    with RawClient(server.address) as client:
        said = client.send(tool_call("wait", {"seconds": 0.4, "note": "x"}), waiting * 12).rest()
    assert statuses(said) == [200, *[400] * 6, 429]


_PIECES = st.sampled_from(
    [
        *[piece for sent in UNCLEAR.values() for piece in sent.split(b"\r\n")],
        b"\r\n",
        b"\r\n\r\n",
        b"GET /healthz HTTP/1.1",
        b"host: localhost",
        b"content-length: 5",
        b"transfer-encoding: chunked",
        b"5\r\nhello\r\n0\r\n\r\n",
    ]
)


@pytest.mark.requirement("I3.5.1")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sent=st.one_of(
        st.binary(max_size=300),
        st.lists(st.one_of(_PIECES, st.binary(max_size=9)), max_size=14).map(b"\r\n".join),
    )
)
def test_whatever_is_sent_is_answered_or_closed_and_the_next_request_served(
    server: Served, sent: bytes
) -> None:
    with RawClient(server.address) as client:
        client.send(sent)
        client.socket.shutdown(socket.SHUT_WR)
        client.rest()
    assert alive(server)
    assert server.process.poll() is None


@pytest.mark.long
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.integers(min_value=0, max_value=400),
    put=st.binary(max_size=3),
    cut=st.integers(min_value=0, max_value=3),
)
@example(place=204, put=b"", cut=3)
def test_a_call_with_a_changed_byte_gets_one_answer(server: Served, place: int, put: bytes, cut: int) -> None:
    """Without its length and the wish to close, what was its body is another request, and refused."""
    sent = tool_call("echo", {"value": call(1, "x")}, ("connection", "close"))
    place = min(place, len(sent))
    with RawClient(server.address) as client:
        client.send(sent[:place] + put + sent[place + cut :])
        first, *others = statuses(client.rest())
    assert others in ([], [400]) and (first == 400 or not others)
    assert alive(server)
