"""Who gets past the guard."""

from __future__ import annotations

import json
import timeit
import tracemalloc
from collections.abc import MutableMapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.http_server.guard import (
    LOOPBACK,
    Access,
    Guard,
    RefusedResponse,
    Scope,
)
from toolspan_server.protocol.http.repeated_headers import ONCE

pytestmark = pytest.mark.anyio
HOST = (b"host", b"127.0.0.1:8808")
JSON = (b"content-type", b"application/json")
OPEN = Access(LOOPBACK | {"tools.lan"}, addresses=True)


async def _nothing(*_: Any) -> None:
    raise AssertionError("the request got through")


def refusal(
    *headers: tuple[bytes, bytes], access: Access | None = None, method: str = "GET", path: str = "/mcp"
) -> RefusedResponse | None:
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": list(headers)}
    return Guard(_nothing, access or Access(), once=ONCE).refusal(scope)


def status(*headers: tuple[bytes, bytes], **more: Any) -> int:
    refused = refusal(*headers, **more)
    return 200 if refused is None else refused.status


@pytest.mark.parametrize(
    "host", [b"localhost", b"LOCALHOST:1", b"127.0.0.1", b"127.0.0.1:65535", b"[::1]:8808"]
)
def test_loopback_may_be_named(host: bytes) -> None:
    assert status((b"host", host)) == 200


@pytest.mark.parametrize(
    "host",
    [
        b"evil.example",
        b"localhost.evil.example",
        b"localhost:80.evil.example",
        b"localhost:@evil",
        b"evil@localhost",
        b"localhost:123456",
        b"localhost:65536",
        b"localhost:",
        b"localhost:+80",
        b"localhost:80:80",
        b"localhost.",
        b"localhost,localhost",
        b"user@localhost",
        b"localhost/",
        b"localhost%00",
        b"127.0.0.1.nip.io",
        b"127.0.0.2",
        b"0.0.0.0",
        b"[::ffff:127.0.0.1]",
        b"localhost ",
        b"",
        b"\xe9",
    ],
)
def test_any_other_host_is_misdirected(host: bytes) -> None:
    assert status((b"host", host)) == 421


@pytest.mark.parametrize("headers", [(), (HOST, HOST), (HOST, (b"host", b"evil.example"))])
def test_there_is_exactly_one_host(headers: tuple[tuple[bytes, bytes], ...]) -> None:
    assert status(*headers) == 400


@pytest.mark.parametrize(
    "origin", [b"http://localhost", b"http://localhost:3000", b"https://127.0.0.1:8808", b"http://[::1]:9"]
)
def test_a_page_of_this_machine_may_ask(origin: bytes) -> None:
    assert status(HOST, (b"origin", origin)) == 200


@pytest.mark.parametrize(
    "origin",
    [
        b"https://evil.example",
        b"null",
        b"file://",
        b"",
        b"http://localhost:80.evil.example",
        b"http://localhost.evil.example",
        b"http://evil.example/http://localhost",
        b"http://localhost@evil.example",
        b"http://localhost/",
        b"chrome-extension://localhost",
        b"http://127.0.0.1.evil.example:8808",
        b"http://127.0.0.1:8808, http://evil.example",
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages/", "/healthz", "/readyz", "/nothing"])
def test_any_other_page_may_not_on_any_route(origin: bytes, path: str) -> None:
    assert status(HOST, (b"origin", origin), path=path) == 403


def test_two_origins_are_one_too_many() -> None:
    local = (b"origin", b"http://localhost:1")
    assert status(HOST, local, local) == 403


@given(origin=st.binary(max_size=40))
def test_no_odd_origin_slips_through(origin: bytes) -> None:
    allowed = (b"http://localhost", b"https://localhost", b"http://127.0.0.1", b"https://127.0.0.1")
    if not origin.lower().startswith((*allowed, b"http://[::1]", b"https://[::1]")):
        assert status(HOST, (b"origin", origin)) == 403


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (b"192.168.1.9:80", 200),
        (b"[2001:db8::1]", 200),
        (b"tools.lan", 200),
        (b"other.lan", 421),
        (b"1.2.3", 421),
    ],
)
def test_beyond_loopback_addresses_and_own_names_may_be_named(host: bytes, expected: int) -> None:
    assert status((b"host", host), access=OPEN) == expected


def test_a_page_of_the_named_host_itself_may_ask() -> None:
    host = (b"host", b"192.168.1.9:80")
    assert status(host, (b"origin", b"http://192.168.1.9:80"), access=OPEN) == 200
    assert status(host, (b"origin", b"http://192.168.1.8:80"), access=OPEN) == 403
    assert status(host, (b"origin", b"http://tools.lan:99"), access=OPEN) == 200


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ([b"Bearer s3cret"], 200),
        ([b"bearer s3cret"], 200),
        ([], 401),
        ([b"Bearer wrong"], 401),
        ([b"Bearer "], 401),
        ([b"Basic s3cret"], 401),
        ([b"s3cret"], 401),
        ([b"Bearer s3cret", b"Bearer s3cret"], 401),
        ([b"Bearer \xff"], 401),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages/", "/readyz", "/nothing"])
def test_a_token_is_asked_for_on_every_route(given_: list[bytes], expected: int, path: str) -> None:
    headers = [(b"authorization", value) for value in given_]
    assert status(HOST, *headers, access=Access(token="s3cret"), path=path) == expected


def test_a_token_in_the_query_does_not_count() -> None:
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/mcp",
        "headers": [HOST],
        "query_string": b"token=s3cret",
    }
    refused = Guard(_nothing, Access(token="s3cret")).refusal(scope)
    assert refused is not None and refused.status == 401


def test_the_health_check_needs_no_token_but_the_right_host() -> None:
    access = Access(token="s3cret")
    assert status(HOST, access=access, path="/healthz") == 200
    assert status((b"host", b"evil.example"), access=access, path="/healthz") == 421


def test_with_a_token_any_name_may_be_served_and_still_no_foreign_page() -> None:
    access = Access(any_name=True, token="s3cret")
    token = (b"authorization", b"Bearer s3cret")
    assert status((b"host", b"tools.example"), token, access=access) == 200
    assert (
        status((b"host", b"tools.example"), token, (b"origin", b"http://evil.example"), access=access) == 403
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ([b"application/json"], 200),
        ([b"application/json; charset=utf-8"], 200),
        ([b"Application/JSON"], 200),
        ([], 415),
        ([b"text/plain"], 415),
        ([b"application/jsonx"], 415),
        ([b"application/json, text/plain"], 415),
        ([b"application/json", b"application/json"], 415),
    ],
)
def test_what_is_posted_is_json(kind: list[bytes], expected: int) -> None:
    assert status(HOST, *((b"content-type", value) for value in kind), method="POST") == expected


@pytest.mark.requirement("I3.2.1")
@pytest.mark.parametrize("name", [b"host", b"origin", b"authorization", b"content-type"])
def test_a_header_that_decides_comes_once(name: bytes) -> None:
    headers = {
        b"host": b"localhost",
        b"origin": b"http://localhost",
        b"authorization": b"Bearer s3cret",
        b"content-type": b"application/json",
    }
    access = Access(token="s3cret")
    assert status(*headers.items(), access=access, method="POST") == 200
    assert status(*headers.items(), (b"accept", b"a"), (b"accept", b"b"), access=access, method="POST") == 200
    for again in (headers[name], b""):
        assert status(*headers.items(), (name, again), access=access, method="POST") in (400, 401, 403, 415)


@pytest.mark.requirement("I9.3.18")
@pytest.mark.parametrize(
    "name",
    [
        *(b"mcp-protocol-version", b"mcp-session-id", b"mcp-method", b"mcp-name", b"mcp-param-city"),
        b"last-event-id",
    ],
)
@pytest.mark.parametrize("again", [b"2026-07-28", b"other", b""])
def test_a_header_of_the_protocol_comes_once(name: bytes, again: bytes) -> None:
    one = (name, b"2026-07-28")
    assert status(HOST, one) == 200
    assert status(HOST, one, (name, again)) == 400
    assert status(HOST, one, (b"accept", b"a/b"), (name, again)) == 400


@pytest.mark.requirement("I3.2.1")
def test_what_was_allowed_once_does_not_open_the_door_to_others() -> None:
    guard = Guard(_nothing, Access())

    def verdict(host: bytes, *origin: bytes) -> int:
        headers = [(b"host", host), *((b"origin", each) for each in origin)]
        refused = guard.refusal({"type": "http", "method": "GET", "path": "/mcp", "headers": headers})
        return 200 if refused is None else refused.status

    for _ in range(2):
        assert verdict(b"localhost:1") == 200
        assert verdict(b"localhost:1", b"http://localhost:2") == 200
        assert verdict(b"localhost:1", b"http://evil.example") == 403
        assert verdict(b"evil.example") == 421
        assert verdict(b"evil.example", b"http://localhost:2") == 421
        assert verdict(b"localhost:1", b"") == 403
        assert verdict(b"") == 421


@pytest.mark.requirement("I3.2.1")
def test_what_is_remembered_of_hosts_is_bounded() -> None:
    guard = Guard(_nothing, Access(any_name=True))
    tracemalloc.start()
    try:
        for number in range(20_000):
            host = f"name-{number}.example".encode()
            assert (
                guard.refusal({"type": "http", "method": "GET", "path": "/", "headers": [(b"host", host)]})
                is None
            )
        current, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert current < 500_000


@pytest.mark.requirement("I3.2.1")
def test_the_guard_costs_next_to_nothing() -> None:
    guard = Guard(_nothing, Access(token="s3cret"))
    headers = [
        (b"host", b"127.0.0.1:8808"),
        (b"accept", b"application/json, text/event-stream"),
        (b"accept-encoding", b"gzip, deflate"),
        (b"connection", b"keep-alive"),
        (b"user-agent", b"tests"),
        (b"authorization", b"Bearer s3cret"),
        (b"mcp-protocol-version", b"2026-07-28"),
        (b"content-length", b"200"),
        (b"content-type", b"application/json"),
    ]
    scope: Scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    assert guard.refusal(scope) is None
    seconds = min(timeit.repeat(lambda: guard.refusal(scope), number=1_000, repeat=10)) / 1_000
    assert seconds < 20e-6


@pytest.mark.requirement("I3.2.1", "I3.5.1")
@given(host=st.text(st.sampled_from("localhost127.0[:]1@/evl-_%"), max_size=24))
def test_no_odd_host_slips_through(host: str) -> None:
    named = host.lower().partition(":")[0] in ("localhost", "127.0.0.1") or host.startswith("[::1]")
    if status((b"host", host.encode())) == 200:
        assert named
        assert not set("@/%") & set(host)


@pytest.mark.requirement("I3.5.1")
def test_a_refusal_repeats_nothing_of_the_request() -> None:
    for headers in (
        [(b"host", b"mark")],
        [HOST, (b"origin", b"mark")],
        [HOST, (b"authorization", b"Bearer mark")],
        [HOST, (b"authorization", b"Bearer s3cret"), (b"content-type", b"mark")],
    ):
        refused = refusal(*headers, access=Access(token="s3cret"), method="POST")
        assert refused is not None
        assert b"mark" not in refused.raw()
        assert b"s3cret" not in refused.raw()


def test_a_refusal_in_bytes_is_http() -> None:
    raw = RefusedResponse(401, "no", ((b"www-authenticate", b"Bearer"),)).raw()
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 401 Unauthorized\r\n")
    assert b"\r\nwww-authenticate: Bearer" in head
    assert f"content-length: {len(body)}".encode() in head
    assert json.loads(body)["error"]["message"] == "no"


async def test_a_refusal_is_an_answer_in_json_that_closes_the_connection() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": [HOST]}
    await Guard(_nothing, Access(token="s3cret"))(scope, _nothing, send)  # type: ignore[arg-type]  # never received from
    start, body = sent
    headers = dict(start["headers"])
    assert start["status"] == 401
    assert headers[b"www-authenticate"] == b"Bearer"
    assert headers[b"connection"] == b"close"
    assert json.loads(body["body"])["error"]["message"] == "A bearer token is needed"
    assert b"s3cret" not in body["body"]
