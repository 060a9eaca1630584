"""Attacks over HTTP, while a second, well-behaved client calls a tool every 50 ms.

``pytest -rP`` tells how long that client's slowest call took during each.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.cost import reference
from tests.support.processes import descriptors, resident
from tests.support.raw_http import (
    Answer,
    RawClient,
    chunked,
    request,
    statuses,
    tool_body,
    tool_call,
    tool_headers,
)
from tests.support.served import INITIALIZE, INITIALIZED, Served, http_server, until, write_config
from tests.support.steady import steady_caller

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and descriptors are read from /proc"),
]
LIMITS = {
    "connections": 100,
    "sessions": 300,
    "head_seconds": 0.6,
    "body_seconds": 0.7,
    "idle_seconds": 0.6,
    "write_seconds": 0.6,
}
UNITS = 50
"""How much the server may compute while the second client waits for an answer."""
LEAST_S = 0.4
MEMORY_BACK_WITHIN = 48 * 2**20
JSON = ("content-type", "application/json")
ACCEPT = ("accept", "application/json, text/event-stream")
ROUTES = (("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/sse"), ("POST", "/messages/"), ("GET", "/healthz"))
TOKEN = ("authorization", "Bearer t0ken-of-the-tests")
STEADY = tool_call("echo", {"value": "steady"}, TOKEN)
EMPTY = request("POST", "/mcp", TOKEN, *tool_headers("echo"), ("content-length", "4000"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    config = write_config(tmp_path_factory.mktemp("attacks"), "wait", "large", "block", limits=LIMITS)
    env = {"TESTS_SECRET": "t0ken-of-the-tests"}
    with http_server(config, "--token-env", "TESTS_SECRET", env=env) as served:
        warm_up(served)
        yield served


def warm_up(server: Served) -> None:
    """Have what is imported on first use imported: that is start-up, not an attack."""
    said = server.exchange(
        tool_call("echo", {"value": 1}, TOKEN, ("mcp-param-x", "1"), ("connection", "close"))
    )
    assert statuses(said) == [200]


def ask(server: Served, *sent: bytes) -> Answer:
    with RawClient(server.address) as client:
        return client.send(*sent).answer()


def answered(server: Served, status: int, *requests: bytes) -> None:
    for sent in requests:
        assert ask(server, sent).status == status, sent[:200]


def modern(method: str, name: str | None, message: dict[str, Any], *headers: tuple[str, str]) -> bytes:
    routing = (("mcp-protocol-version", "2026-07-28"), ("mcp-method", method))
    named = (("mcp-name", name),) if name else ()
    return request(
        "POST", "/mcp", TOKEN, JSON, ACCEPT, *routing, *named, *headers, body=json.dumps(message).encode()
    )


def in_session(session: str, message: dict[str, Any], version: str = "2025-11-25") -> bytes:
    headers = (("mcp-session-id", session), ("mcp-protocol-version", version))
    return request("POST", "/mcp", TOKEN, JSON, ACCEPT, *headers, body=json.dumps(message).encode())


def opened(server: Served) -> str:
    return ask(
        server, request("POST", "/mcp", TOKEN, JSON, ACCEPT, body=json.dumps(INITIALIZE).encode())
    ).headers["mcp-session-id"]


def foreign_pages(server: Served) -> None:
    evil = (
        "null",
        "file://",
        "http://localhost:80.evil.example",
        "https://evil.example",
        "http://localhost@evil",
    )
    for origin in evil:
        for method, path in ROUTES:
            answered(server, 403, *[request(method, path, TOKEN, JSON, ("origin", origin))] * 3)


def rebound_hosts(server: Served) -> None:
    for host in ("evil.example", "localhost:@evil", "localhost.", "127.0.0.1.nip.io"):
        for method, path in ROUTES:
            answered(server, 421, *[request(method, path, TOKEN, host=("host", host))] * 3)


def wrong_types(server: Served) -> None:
    body = tool_body("wait", {"seconds": 60, "note": "ran"})
    right = dict(tool_headers("wait"))
    for name, value, status in (
        ("content-type", "application/jsonx", 415),
        ("content-type", "text/plain", 415),
        ("content-type", "application/json, text/plain", 415),
        ("accept", "text/html", 406),
        ("accept", "", 406),
    ):
        headers = {**right, name: value}.items()
        answered(server, status, *[request("POST", "/mcp", TOKEN, *headers, body=body)] * 10)


def large_bodies(server: Served) -> None:
    declared = request("POST", "/mcp", TOKEN, *tool_headers("echo"), ("content-length", "100000000"))
    head = request("POST", "/mcp", TOKEN, *tool_headers("echo"), ("transfer-encoding", "chunked"))
    chunk = chunked(b" " * 262_144).removesuffix(b"0\r\n\r\n")
    for _ in range(6):
        assert ask(server, declared, *[b" " * 262_144] * 8).status == 413
        assert ask(server, head, *[chunk] * 20).status == 413
        with RawClient(server.address) as client:
            client.send(head, *[chunk] * 200)


def costly_bodies(server: Served) -> None:
    size = 4 * 2**20 - 1_000
    for filling, status in (
        (b"[" * size, 400),
        (b"[" + b"{}," * (size // 3) + b"{}]", 400),
        (b'{"a":' * (size // 5), 400),
        (b'"' + b"\\u0041" * (size // 6) + b'"', 400),
        (b"9" * size, 400),
    ):
        answered(server, status, *[request("POST", "/mcp", TOKEN, *tool_headers("echo"), body=filling)] * 2)


def costly_arguments(server: Served) -> None:
    for value in (
        b"[" + b"{}," * 1_300_000 + b"{}]",
        b"[" + b"1e5," * 1_000_000 + b"1]",
        b"{" + b",".join(b'"%d":0' % number for number in range(300_000)) + b"}",
        b'"' + b"x" * 4_000_000 + b'"',
        b'"' + b"{" * 4_000_000 + b'"',
    ):
        body = tool_body("echo", {"value": 0}).replace(b'{"value": 0}', b'{"value":' + value + b"}")
        assert ask(server, request("POST", "/mcp", TOKEN, *tool_headers("echo"), body=body)).status in (
            200,
            400,
        )


def unclear_framing(server: Served) -> None:
    head = request("POST", "/mcp", TOKEN, *tool_headers("echo")).removesuffix(b"\r\n")
    for framing in (
        b"content-length: 2\r\ntransfer-encoding: chunked",
        b"content-length: 2\r\ncontent-length: 3",
        b"content-length: -1",
        b"x: a\r\n b",
        b"x: a\0b",
        b"x: a\ny: b",
    ):
        for _ in range(20):
            with RawClient(server.address) as client:
                assert statuses(client.send(head + framing + b"\r\n\r\n{}").rest()) == [400]


def large_heads(server: Served) -> None:
    answered(server, 431, *[request("GET", "/healthz", ("x", "a" * 100_000))] * 20)
    answered(server, 431, *[request("GET", "/healthz", *[("x", "a")] * 5_000)] * 20)


def disagreeing_headers(server: Served) -> None:
    message = json.loads(tool_body("echo", {"value": 1}))
    right = (("mcp-method", "tools/call"), ("mcp-name", "echo"), ("mcp-protocol-version", "2026-07-28"))
    for wrong in (
        (right[0], ("mcp-name", "wait"), right[2]),
        (("mcp-method", "tools/list"), *right[1:]),
        (right[0], right[2]),
        right[1:],
        (*right, ("mcp-name", "wait")),
        (*right, right[0]),
    ):
        sent = request("POST", "/mcp", TOKEN, JSON, ACCEPT, *wrong, body=json.dumps(message).encode())
        for _ in range(10):
            answer = ask(server, sent)
            assert (answer.status, answer.message["error"]["code"]) == (400, -32020)


def unknown_methods(server: Served) -> None:
    message = {**json.loads(tool_body("echo")), "method": "tools/nothing"}
    for _ in range(10):
        answer = ask(server, modern("tools/nothing", None, message))
        assert (answer.status, answer.message["error"]["code"]) == (404, -32601)
        for method in ("GET", "DELETE"):
            answer = ask(
                server, request(method, "/mcp", TOKEN, ACCEPT, ("mcp-protocol-version", "2026-07-28"))
            )
            assert (answer.status, answer.headers["allow"]) == (405, "POST")


def same_ids(server: Served) -> None:
    session = opened(server)
    answered(server, 202, in_session(session, INITIALIZED))
    with ExitStack() as stack:
        clients = [stack.enter_context(RawClient(server.address)) for _ in range(20)]
        for number, client in enumerate(clients):
            params = {"name": "wait", "arguments": {"seconds": 0.3, "note": "same"}}
            request_id: int | str = 5 if number % 2 else "5"
            message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
            client.send(in_session(session, message))
        said = [client.answer() for client in clients]
    assert sum(b"waited" in answer.body for answer in said) == 2
    assert all(b'"error"' in answer.body or b"waited" in answer.body for answer in said)


def guessed_sessions(server: Served) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    refusals = {
        (answer.status, answer.body)
        for number in range(200)
        for answer in [ask(server, in_session(f"{number:032x}", ping))]
    }
    assert [status for status, _ in refusals] == [404]


def abandoned_sessions(server: Served) -> None:
    live = opened(server)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    ending = request("DELETE", "/mcp", TOKEN, ("mcp-session-id", live))
    assert ask(server, in_session(live, ping)).status == 200
    with RawClient(server.address) as client:
        sent = request("POST", "/mcp", TOKEN, JSON, ACCEPT, body=json.dumps(INITIALIZE).encode())
        got = [client.send(sent).answer() for _ in range(600)]
        assert {answer.status for answer in got} == {200}
        assert client.send(in_session(live, ping)).answer().status == 200
        ended = [
            client.send(ending.replace(live.encode(), session.encode())).answer().status
            for session in (live, *(answer.headers["mcp-session-id"] for answer in got))
        ]
        left = ended.count(200) - 1
        assert ended == [200] + [404] * (600 - left) + [200] * left
        assert LIMITS["sessions"] - 10 < left < LIMITS["sessions"], "of the newest all that there is room for"


def slow_clients(server: Served) -> None:
    forms: tuple[tuple[bytes, list[bytes]], ...] = (
        (b"", []),
        (b"GET / HTTP/1.1\r\nx:", [b"a"]),
        (EMPTY, [b" "]),
        (EMPTY.replace(b"content-length: 4000", b"transfer-encoding: chunked"), [b"1\r\n \r\n"]),
        (tool_call("large", {"size": 900_000}, TOKEN) * 8, []),
    )

    def stay(form: tuple[bytes, list[bytes]]) -> bytes:
        with RawClient(server.address, receive_buffer=4_096) as client:
            return client.send(form[0]).drip(form[1], every=0.1)

    with ThreadPoolExecutor(40) as pool:
        lasted = list(pool.map(stay, forms[:4] * 9))
    assert len(lasted) == 36


def deaf_clients(server: Served) -> None:
    files = descriptors(server.process.pid)
    with ExitStack() as stack:
        for _ in range(10):
            client = stack.enter_context(RawClient(server.address, receive_buffer=4_096))
            client.send(tool_call("large", {"size": 500_000}, TOKEN) * 20)
        until(lambda: descriptors(server.process.pid) >= files + 10, "the clients to be served")
        until(lambda: descriptors(server.process.pid) <= files, "the end of the wait")


def foreign_protocols(server: Served) -> None:
    for sent in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(64)),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        bytes(range(255, 0, -1)),
        b"*1\r\n$4\r\nPING\r\n",
    ):
        for _ in range(30):
            with RawClient(server.address) as client:
                assert statuses(client.send(sent).rest()) == [400]
    assert "Traceback" not in server.errors.text


def wrong_tokens(server: Served) -> None:
    for method, path in ROUTES[:-1]:
        for headers in ((), (("authorization", "Bearer guess"),), (TOKEN, TOKEN)):
            answered(server, 401, *[request(method, path, JSON, *headers)] * 5)
    answered(server, 401, request("GET", "/sse?token=t0ken-of-the-tests"))
    assert "t0ken-of-the-tests" not in server.errors.text


def many_connections(server: Served) -> None:
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(RawClient(server.address))
        answered(server, 200, tool_call("echo", {"value": 1}, TOKEN))


def clients_that_leave(server: Served) -> None:
    for _ in range(60):
        with RawClient(server.address) as client:
            client.send(tool_call("wait", {"seconds": 60, "note": "left"}, TOKEN))
        with RawClient(server.address) as client:
            client.send(EMPTY, b" " * 100)
        with RawClient(server.address) as client:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            client.send(tool_call("large", {"size": 900_000}, TOKEN))


def endless_pipelines(server: Served) -> None:
    for _ in range(10):
        with RawClient(server.address) as client:
            said = client.send(request("GET", "/healthz") * 5_000).rest()
        assert set(statuses(said)) == {200, 429}


ATTACKS: dict[str, Callable[[Served], None]] = {
    "nothing": lambda _server: time.sleep(LEAST_S),
    "row 34: foreign pages": foreign_pages,
    "row 34: rebound hosts": rebound_hosts,
    "row 36: wrong types": wrong_types,
    "row 37: large bodies": large_bodies,
    "row 20: costly bodies": costly_bodies,
    "row 55: costly arguments": costly_arguments,
    "row 39: unclear framing": unclear_framing,
    "row 40: large heads": large_heads,
    "row 41: headers that disagree": disagreeing_headers,
    "row 42: unknown methods": unknown_methods,
    "row 44: same ids": same_ids,
    "row 45: guessed sessions": guessed_sessions,
    "row 46: abandoned sessions": abandoned_sessions,
    "row 47: slow clients": slow_clients,
    "row 48: deaf clients": deaf_clients,
    "row 49: foreign protocols": foreign_protocols,
    "row 50: wrong tokens": wrong_tokens,
    "connections": many_connections,
    "clients that leave": clients_that_leave,
    "pipelines": endless_pipelines,
}


def most_work_during(server: Served, name: str) -> float:
    with steady_caller(server.address, STEADY, server.process.pid) as caller:
        end = time.monotonic() + LEAST_S
        while time.monotonic() < end:
            ATTACKS[name](server)
    sys.stdout.write(
        f"{name}: the slowest of {len(caller.times)} calls took {caller.slowest * 1_000:.1f} ms\n"
    )
    return caller.busiest


@pytest.mark.requirement("I3.2.1", "I3.5.1")
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_answered_and_nobody_else_notices(server: Served, name: str) -> None:
    memory, files = resident(server.process.pid), descriptors(server.process.pid)
    assert most_work_during(server, name) < UNITS * reference()
    until(lambda: descriptors(server.process.pid) <= files, "the descriptors to return")
    assert resident(server.process.pid) - memory < MEMORY_BACK_WITHIN
