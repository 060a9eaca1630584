"""An HTTP answer that needs no app, and the words of ASGI."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

INVALID_REQUEST = -32600
"""The request itself is wrong (JSON-RPC 2.0, 5.1)."""


@dataclass(frozen=True, slots=True)
class RefusedResponse:
    """An HTTP answer that the guard gives itself. As JSON-RPC, it has an error of ``code``."""

    status: int
    message: str
    headers: tuple[Header, ...] = ()
    code: int = INVALID_REQUEST

    async def send(self, send: Send, render: Render | None = None) -> None:
        """Send it, as ``render`` writes it (a JSON-RPC error without an id), and close the connection."""
        headers, body = self._rendered(render)
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def raw(self, render: Render | None = None) -> bytes:
        """The same answer as bytes of HTTP/1.1, for a request that no app will see."""
        headers, body = self._rendered(render)
        lines = [b"HTTP/1.1 %d %s" % (self.status, HTTPStatus(self.status).phrase.encode())]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join([*lines, b"", body])

    def _rendered(self, render: Render | None) -> tuple[list[Header], bytes]:
        media_type, body = (render or json_rpc_error)(self)
        headers = [
            (b"content-type", media_type),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *self.headers,
        ]
        return headers, body


Render = Callable[[RefusedResponse], tuple[bytes, bytes]]
"""Writes the body of a refusal: its media type and its bytes."""
RenderOf = Callable[[Scope], Render]
"""What writes the refusals of a request, whose ``path`` may not be known yet."""


def json_rpc_error(refused: RefusedResponse) -> tuple[bytes, bytes]:
    """The body of a refusal as a JSON-RPC error without an id."""
    error = {"code": refused.code, "message": refused.message}
    answer = {"jsonrpc": "2.0", "id": None, "error": error}
    return b"application/json", json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


async def send_json(send: Send, status: int, body: bytes, *, head: bool = False) -> None:
    """Answer with a JSON document; with ``head``, only with its headers."""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})
