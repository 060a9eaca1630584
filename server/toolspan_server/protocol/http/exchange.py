"""One HTTP request to the endpoint: its headers, its body, and the ways to answer it."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from functools import lru_cache
from typing import Any

import anyio

from ...calls.caller import Origin
from ...http_server.auth import PRINCIPAL
from ...http_server.connection.head_cache import combined
from ...http_server.connection.request_cycle import CYCLE, RequestCycle
from ...http_server.guard import (
    App,
    Header,
    Receive,
    Scope,
    Send,
)
from ..messages import jsonrpc
from ..messages.named_principals import refuse_named

JSON_HEADER = (b"content-type", b"application/json")
_STREAM_HEADERS: list[Header] = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
NOT_ACCEPTABLE = "Not Acceptable: Client must accept both application/json and text/event-stream"


class Exchange:
    """A request to ``/mcp``. Lines of the same header are joined to a list in ``headers``."""

    __slots__ = (
        "_cycle",
        "_send",
        "body",
        "headers",
        "method",
        "on_answered",
        "receive",
        "request_id",
        "scope",
        "started",
        "streaming",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._cycle: RequestCycle | None = scope.pop(CYCLE, None)
        head = None if self._cycle is None else self._cycle.head
        self.headers = combined(scope["headers"]) if head is None else head.fields
        self.scope = scope
        self.method: str = scope["method"]
        self.receive = receive
        self.body = b""
        self.request_id: jsonrpc.RequestId | None = None
        self.on_answered: Callable[[], None] | None = None
        self.started = False
        self.streaming = False
        self._send = send

    def origin(self, client: Any = None) -> Origin:
        """Where the request comes from; ``client`` is the ``clientInfo`` of its session."""
        headers = self.headers
        session, authorization = headers.get(b"mcp-session-id"), headers.get(b"authorization")
        return Origin.of(self.scope.get(PRINCIPAL), session, client, authorization)

    async def message(self) -> dict[str, Any] | None:
        """The JSON-RPC message in the body; ``None`` when there is none, and that was answered."""
        body = None if self._cycle is None else self._cycle.taken()
        if body is None and (body := await self._received()) is None:
            return None
        self.body = body
        try:
            message = jsonrpc.read_message(self.body)
            if message is None:
                raise jsonrpc.Refusal(jsonrpc.PARSE_ERROR, "Parse error: the body is empty")
            refuse_named(message)
        except jsonrpc.Refusal as refusal:
            await self.answer(400, jsonrpc.encode(refusal.answer()))
            return None
        self.request_id = message.get("id")
        return message

    async def answer(self, status: int, body: bytes = b"", *headers: Header) -> None:
        """Answer with JSON, or with an empty body; on a stream that was started, with its last event."""
        if self.streaming:
            await self._send({"type": "http.response.body", "body": event(body)})
            return
        self.started = True
        if status == 200 and body and not headers and self._cycle is not None and self._cycle.whole(body):
            return
        size = (b"content-length", b"%d" % len(body))
        fields = [JSON_HEADER, size, *headers] if body else [size, *headers]
        await self._send({"type": "http.response.start", "status": status, "headers": fields})
        await self._send({"type": "http.response.body", "body": body})

    async def stream(self) -> None:
        """Start an event stream, so that proxies between client and server see activity."""
        self.started = True
        await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
        self.streaming = True

    async def ping(self) -> None:
        """Send a comment on the stream, which clients ignore."""
        await self._send({"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True})

    async def refuse(
        self,
        status: int,
        message: str,
        *headers: Header,
        code: int = jsonrpc.INVALID_REQUEST,
        request_id: jsonrpc.RequestId | None = None,
    ) -> None:
        """Answer with a JSON-RPC error."""
        await self.answer(status, jsonrpc.encode(jsonrpc.error(request_id, code, message)), *headers)

    async def hand(self, app: App) -> None:
        """Let ``app`` answer the request, with its body."""
        await app(self.scope, replayed(self.body, self.receive) if self.body else self.receive, self._noted)

    async def _noted(self, message: MutableMapping[str, Any]) -> None:
        self.started = True
        last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if last and self.on_answered is not None:
            self.on_answered()
        await self._send(message)

    async def _received(self) -> bytes | None:
        """The whole body, which the connection keeps within its limit; ``None`` when the client has
        disconnected.
        """
        body = bytearray()
        while True:
            part = await self.receive()
            body += part.get("body", b"")
            if not part.get("more_body", False):
                return bytes(body) if part["type"] == "http.request" else None


def event(body: bytes) -> bytes:
    """A JSON-RPC message as an event of a stream."""
    return b"event: message\r\ndata: " + body.rstrip(b"\n") + b"\r\n\r\n"


def replayed(body: bytes, receive: Receive | None = None) -> Receive:
    """A ``receive`` that returns ``body`` first; then what ``receive`` returns, or nothing ever."""
    given = False

    async def again() -> MutableMapping[str, Any]:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        if receive is not None:
            return await receive()
        await anyio.sleep_forever()
        raise AssertionError

    return again


@lru_cache(maxsize=64)
def accepts(header: bytes) -> tuple[bool, bool]:
    """Whether an ``Accept`` header includes JSON, and an event stream."""
    types = {part.partition(b";")[0].strip().lower() for part in header.split(b",")}
    anything = b"*/*" in types
    return (
        anything or not types.isdisjoint((b"application/json", b"application/*")),
        anything or not types.isdisjoint((b"text/event-stream", b"text/*")),
    )
