"""Who gets past the guard."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.protocol.guard import LOOPBACK, MAX_BODY_BYTES, Access, Guard, Refused, Scope

pytestmark = pytest.mark.anyio
HOST = (b"host", b"127.0.0.1:8808")
JSON = (b"content-type", b"application/json")
OPEN = Access(LOOPBACK | {"tools.lan"}, addresses=True)


async def _nothing(*_: Any) -> None:
    raise AssertionError("the request got through")


def refusal(
    *headers: tuple[bytes, bytes], access: Access | None = None, method: str = "GET", path: str = "/mcp"
) -> Refused | None:
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": list(headers)}
    return Guard(_nothing, access or Access()).refusal(scope)


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


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (b"0", 200),
        (str(MAX_BODY_BYTES).encode(), 200),
        (str(MAX_BODY_BYTES + 1).encode(), 413),
        (b"9" * 5000, 413),
        (b"-1", 413),
    ],
)
def test_a_body_is_at_most_4_mib(length: bytes, expected: int) -> None:
    assert status(HOST, JSON, (b"content-length", length), method="POST") == expected


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
