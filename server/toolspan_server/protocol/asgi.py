"""An HTTP answer that needs no app, and the words of ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from .messages import jsonrpc

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

HEADER_MISMATCH = -32020
"""The headers of a request disagree with its body (MCP 2026-07-28, basic/transports)."""


@dataclass(frozen=True, slots=True)
class RefusedResponse:
    """An HTTP answer that the guard gives itself: with a JSON-RPC error of ``code``."""

    status: int
    message: str
    headers: tuple[Header, ...] = ()
    code: int = jsonrpc.INVALID_REQUEST

    async def send(self, send: Send) -> None:
        """Send it, as a JSON-RPC error without an id, and close the connection."""
        headers, body = self._rendered()
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def raw(self) -> bytes:
        """The same answer as bytes of HTTP/1.1, for a request that no app will see."""
        headers, body = self._rendered()
        lines = [b"HTTP/1.1 %d %s" % (self.status, HTTPStatus(self.status).phrase.encode())]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join([*lines, b"", body])

    def _rendered(self) -> tuple[list[Header], bytes]:
        body = jsonrpc.encode(jsonrpc.error(None, self.code, self.message))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *self.headers,
        ]
        return headers, body


async def send_json(send: Send, status: int, body: bytes, *, head: bool = False) -> None:
    """Answer with a JSON document; with ``head``, only with its headers."""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})
