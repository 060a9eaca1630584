"""HTTP traffic for a fuzzer: requests, each with the check of its answer, and bytes that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.raw_http import Answer, chunked, request, tool_body, tool_headers
from tests.support.served import INITIALIZE, MODERN_META, call

ACCEPT = ("accept", "application/json, text/event-stream")
JSON = ("content-type", "application/json")
Check = Callable[[Answer], None]


@dataclass(frozen=True)
class Asked:
    """A complete, valid request, and the check of its one answer."""

    sent: bytes
    check: Check


def messages(answer: Answer) -> list[dict[str, Any]]:
    """The JSON-RPC messages of an answer, which is JSON or an event stream."""
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        data = [line[5:] for line in answer.body.splitlines() if line.startswith(b"data:")]
        return [json.loads(line) for line in data if line.strip()]
    return [answer.message] if answer.body else []


def owes(request_id: int | str, status: int = 200) -> Check:
    """One response to ``request_id``, with ``status``."""

    def check(answer: Answer) -> None:
        responses = [each for each in messages(answer) if "result" in each or "error" in each]
        assert (answer.status, [each.get("id") for each in responses]) == (status, [request_id]), answer

    return check


def with_status(*statuses: int) -> Check:
    """Any of ``statuses``."""

    def check(answer: Answer) -> None:
        assert answer.status in statuses, answer

    return check


def post(message: dict[str, Any], *headers: tuple[str, str], pieces: int = 0) -> bytes:
    """A message to ``/mcp``, its body in so many chunks where ``pieces`` says so."""
    body = json.dumps(message).encode()
    if not pieces:
        return request("POST", "/mcp", JSON, ACCEPT, *headers, body=body)
    size = len(body) // pieces + 1
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return request("POST", "/mcp", JSON, ACCEPT, *headers, ("transfer-encoding", "chunked")) + chunked(*parts)


def modern(number: int, kind: str, pieces: int) -> Asked:
    """A request of the modern era."""
    routing = ("mcp-protocol-version", "2026-07-28")
    if kind == "call" and not pieces:
        sent = request(
            "POST", "/mcp", *tool_headers("echo"), body=tool_body("echo", {"value": number}, number)
        )
        return Asked(sent, owes(number))
    methods = {
        "call": "tools/call",
        "list": "tools/list",
        "discover": "server/discover",
        "unknown": "no/such",
    }
    message: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": number,
        "method": methods[kind],
        "params": {"_meta": MODERN_META},
    }
    headers = [routing, ("mcp-method", methods[kind])]
    if kind == "call":
        message["params"] = {**call(number, "echo", {"value": number})["params"], "_meta": MODERN_META}
        headers.append(("mcp-name", "echo"))
    return Asked(post(message, *headers, pieces=pieces), owes(number, 404 if kind == "unknown" else 200))


def handshake_era(number: int, kind: str, pieces: int, session: str | None) -> Asked:
    """A request of the 2025 era, in a session or by itself."""
    bodies: dict[str, dict[str, Any]] = {
        "call": call(number, "echo", {"value": number}),
        "list": {"jsonrpc": "2.0", "id": number, "method": "tools/list"},
        "ping": {"jsonrpc": "2.0", "id": number, "method": "ping"},
        "progress": call(number, "echo", {"value": number}, _meta={"progressToken": number}),
        "unknown": {"jsonrpc": "2.0", "id": number, "method": "no/such"},
    }
    headers = [("mcp-protocol-version", "2025-06-18")]
    headers += [("mcp-session-id", session)] if session else []
    return Asked(post(bodies[kind], *headers, pieces=pieces), owes(number))


def initialize(number: int) -> Asked:
    """The opening of a session."""
    return Asked(post({**INITIALIZE, "id": number}), owes(number))


REFUSED: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "wrong method": (request("DELETE", "/healthz"), (405,)),
    "foreign page": (request("GET", "/mcp", ("origin", "https://evil.example")), (403,)),
    "rebound host": (request("GET", "/mcp", host=("host", "evil.example")), (421,)),
    "wrong type": (request("POST", "/mcp", ("content-type", "text/plain"), body=b"{}"), (415,)),
    "unknown path": (request("GET", "/nothing"), (404,)),
    "two hosts": (request("GET", "/healthz", ("host", "localhost")), (400,)),
}
"""Requests that HTTP understands and the server refuses, closing the connection."""

WRONG: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "no JSON": (request("POST", "/mcp", JSON, ACCEPT, body=b"rubbish"), (400,)),
    "a batch": (request("POST", "/mcp", JSON, ACCEPT, body=b"[]"), (400,)),
    "no id": (
        request("POST", "/mcp", JSON, ACCEPT, body=b'{"jsonrpc":"2.0","id":{},"method":"ping"}'),
        (400,),
    ),
    "deep": (request("POST", "/mcp", JSON, ACCEPT, body=b"[" * 5_000), (400,)),
    "no session": (request("GET", "/mcp", ACCEPT), (400,)),
    "guessed session": (
        request("POST", "/mcp", JSON, ACCEPT, ("mcp-session-id", "0" * 32), body=b"{}"),
        (404,),
    ),
    "wrong accept": (request("POST", "/mcp", JSON, ("accept", "text/html"), body=b"{}"), (406,)),
}
"""Requests that are answered with an error, after which the connection may go on."""

BROKEN: tuple[bytes, ...] = (
    b"\x00",
    b"\x16\x03\x01\x02\x00",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\nhost: localhost\n\n",
    b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n folded\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
    b"POST /mcp HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
    b"POST /mcp HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
    b"GET /mcp HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
)
"""What no HTTP server understands."""
