"""The HTTP transports: Streamable HTTP and legacy HTTP+SSE, with bounded bodies."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from typing import Any

import anyio.lowlevel
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import override

from ...common.json_size import MAX_VALUES, ValueCounter
from ...common.no_cookies import NoCookies
from ._attempt import note_status
from ._spec import ServerSpec
from ._sse_answers import checked, note_asked
from ._wire import tell_request, tell_response
from .child.process import Child
from .limits.allowance import WRITE_SECONDS, Allowance
from .limits.bounded_json import MAX_MESSAGE_BYTES

_CONNECT_SECONDS = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PIECE = 16_384
_MOST_LINES = 4
_END_OF_EVENT = re.compile(rb"\n\r?\n|\r\r")
_TELLS = re.compile(rb'\{"jsonrpc": ?"2.0", ?("method"|"id": ?[^,]{1,200}, ?"(result|error)")')


class _Capped(httpx2.AsyncByteStream):
    """A body that fails once it is longer, or holds more values, than a message may."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, values = 0, ValueCounter()
        async for chunk in self._body:
            size += len(chunk)
            values.feed(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError(f"the answer is longer than {MAX_MESSAGE_BYTES} bytes")
            if values.found > MAX_VALUES:
                raise httpx2.StreamError(f"the answer holds more than {MAX_VALUES:,} values")
            yield chunk

    @override
    async def aclose(self) -> None:
        await self._body.aclose()


class _Events(httpx2.AsyncByteStream):
    """A body of events, held to what a server may send unasked; its last event is taken for an answer.

    It is handed on in pieces, so that others have their turn between.
    """

    def __init__(self, body: httpx2.AsyncByteStream, allowance: Allowance) -> None:
        self._body = body
        self._allowance = allowance
        self._size = self._last_size = 0

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            for start in range(0, len(chunk), _PIECE):
                piece = chunk[start : start + _PIECE]
                if fault := self._fault(piece):
                    raise httpx2.StreamError(fault)
                yield piece
                await anyio.lowlevel.checkpoint()

    def _fault(self, piece: bytes) -> str:
        self._size += len(piece)
        lines = piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")
        self._allowance.unasked(max(0, lines - _MOST_LINES * piece.count(b"data:")), len(piece))
        if self._allowance.excess:
            return self._allowance.excess
        if _END_OF_EVENT.search(piece):
            self._last_size, self._size = self._size, 0
        return ""

    @override
    async def aclose(self) -> None:
        self._allowance.unasked(0, -(self._size or self._last_size))
        self._size = self._last_size = 0
        await self._body.aclose()


class _SseClient(httpx2.AsyncClient):
    """Notes that a message of HTTP+SSE could not be delivered: the SDK delivers none after it."""

    def __init__(self, child: Child, **options: Any) -> None:
        super().__init__(**options)
        self._child = child

    @override
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError:
            if request.method == "POST":
                self._child.broken.set()
            raise
        if request.method == "POST" and response.is_error:
            self._child.broken.set()
        return response


def _client(spec: ServerSpec, child: Child) -> httpx2.AsyncClient:
    async def asking(request: httpx2.Request) -> None:
        note_asked(request)
        tell_request(spec, request)
        if request.method == "GET":
            child.allowance.resumed()
        elif spec.kind == "sse" or _TELLS.match(request.content):
            # Only its receipt is waited for, and everything else that is to be sent waits meanwhile.
            request.extensions["timeout"] = {**request.extensions["timeout"], "read": WRITE_SECONDS}
        if child.allowance.excess and request.method != "DELETE":
            raise httpx2.TransportError(child.allowance.excess)

    async def bound(response: httpx2.Response) -> None:
        tell_response(spec, response)
        note_status(response.status_code)
        child.status = response.status_code if response.status_code >= 400 else None
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("the server compressed its answer although asked not to")
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        if isinstance(body := response.stream, httpx2.AsyncByteStream):
            bounded = _Events(body, child.allowance) if is_stream else _Capped(body)
            response.stream = checked(response, bounded)

    made = partial(_SseClient, child) if spec.kind == "sse" else httpx2.AsyncClient
    url = httpx2.URL(spec.url)
    trusts_others = url.host not in _LOOPBACK
    return made(
        headers={**spec.headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
        trust_env=trusts_others,
        verify=(url.scheme == "https" or trusts_others) and _certificates(trusts_others, *_files()),
        event_hooks={"request": [asking], "response": [bound]},
        auth=spec.authorization,
        cookies=NoCookies(),
    )


def _files() -> list[str | None]:
    return [os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]


@cache
def _certificates(trust_env: bool, *_trusted: str | None) -> ssl.SSLContext:
    """Whom to trust, read once for all connections: reading it is work, in which nothing else is done."""
    return httpx2.create_ssl_context(trust_env=trust_env)


@asynccontextmanager
async def http_streams(spec: ServerSpec, child: Child) -> AsyncGenerator[Any]:
    """The message streams of the Streamable HTTP server at the spec's url."""
    async with (
        _client(spec, child) as client,
        streamable_http_client(spec.url, http_client=client, max_sse_event_size=None) as streams,
    ):
        yield streams


def sse_streams(spec: ServerSpec, child: Child) -> AbstractAsyncContextManager[Any]:
    """The message streams of the legacy HTTP+SSE server at the spec's url."""

    def factory(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return _client(spec, child)

    return sse_client(spec.url, httpx_client_factory=factory)
