"""The requests of clients and their answers, told to whoever watches the wire."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from itertools import count
from typing import Any

from ...common.wire.json_rpc import JsonRpcWire
from ...common.wire.tap import WireTap, secrets_of_headers
from ...http_server.asgi import App, Receive, Scope, Send
from ...http_server.connection.request_cycle import CYCLE

_NUMBERS = count(1)
_END_OF_EVENT = re.compile(rb"\r?\n\r?\n")


def shown_requests(app: App, tap: WireTap) -> App:
    """``app``, with every request and answer told to ``tap``: a body when it is whole, and of a stream each
    event. Of the headers none is told but the content type."""

    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        scope.pop(CYCLE, None)  # whole bodies at once, which nobody could see
        exchange = _Exchange(scope, receive, send, tap)
        await app(scope, exchange.receive, exchange.send)

    return told


class _Exchange:
    """One request, and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, tap: WireTap) -> None:
        self._receive = receive
        self._send = send
        self._wire = JsonRpcWire(tap, f"{_client(scope)} #{next(_NUMBERS)}")
        self._request = f"{scope['method']} {_target(scope)}"
        self._has_body = scope["method"] == "POST"
        self._body: bytearray | None = bytearray()
        self._status = ""
        self._is_stream = False
        self._answer = bytearray()
        tap.secrets(
            secrets_of_headers((k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"])
        )
        if not self._has_body:
            self._tell_request()

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        if message["type"] == "http.request" and self._body is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                self._tell_request()
        return message

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._begin(message)
        elif message["type"] == "http.response.body":
            self._take(message.get("body", b""), more=message.get("more_body", False))
        await self._send(message)

    def _tell_request(self) -> None:
        if self._body is None:
            return
        body, self._body = bytes(self._body), None
        if body.strip():
            self._wire.received(body, self._request)
        else:
            self._wire.note(self._request, sent=False)

    def _begin(self, message: MutableMapping[str, Any]) -> None:
        self._tell_request()
        headers = {name.lower(): value for name, value in message.get("headers", ())}
        kind = headers.get(b"content-type", b"").decode("latin-1")
        self._status = ", ".join(part for part in (str(message["status"]), kind) if part)
        self._is_stream = kind.startswith("text/event-stream")
        if self._is_stream:
            self._wire.note(f"{self._status}, of {self._request}", sent=True)

    def _take(self, piece: bytes, *, more: bool) -> None:
        self._answer += piece
        if self._is_stream:
            *events, rest = _END_OF_EVENT.split(bytes(self._answer))
            self._answer = bytearray(rest)
            for event in [*events, *([] if more else [rest])]:
                self._tell_event(event)
        elif not more:
            if self._answer.strip():
                self._wire.sent(bytes(self._answer), self._status)
            else:
                self._wire.note(self._status, sent=True)

    def _tell_event(self, event: bytes) -> None:
        data = b"\n".join(
            line.removeprefix(b"data:").strip() for line in event.splitlines() if line.startswith(b"data:")
        )
        if data.startswith((b"{", b"[")):
            self._wire.sent(data, "event")
        elif event.strip():
            self._wire.note("event", sent=True, body=event)


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return f"client {client[0]}:{client[1]}" if client else "client"


def _target(scope: Scope) -> str:
    query = scope.get("query_string", b"")
    target = scope.get("raw_path", b"") + (b"?" + query if query else b"")
    return str(target.decode("latin-1"))
