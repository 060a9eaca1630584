"""Requests of ``httpx2`` over connections that stay open."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator
from itertools import chain
from typing import Any

import anyio
import httpx2
from typing_extensions import override

from .connection import Connection

__all__ = ["DirectTransport"]

_Origin = tuple[str, str, int]
_PORTS = {"http": 80, "https": 443}
_STAGGER_S = 0.25


class DirectTransport(httpx2.AsyncBaseTransport):
    """Sends each request, whose body is bytes, on a connection of its own, or on one that an earlier request
    left open.

    At most ``most`` are in use at once; ``most_idle`` wait for a next request, each at most ``idle`` seconds.
    ``tls`` is for addresses with https.
    """

    def __init__(self, tls: ssl.SSLContext | None, most: int, most_idle: int, idle: float) -> None:
        self._tls = tls
        self._most_idle = most_idle
        self._idle_seconds = idle
        self._idle: dict[_Origin, deque[Connection]] = {}
        self._idle_count = 0
        self._used: set[Connection] = set()
        self._places = asyncio.Semaphore(most)

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, open for reading. Raises ``HTTPError``."""
        patience = request.extensions.get("timeout", {})
        data = _head(request) + await request.aread()
        origin = _origin(request.url)
        await self._place(patience.get("pool"))
        connection = None
        try:
            connection = self._taken(origin) or await self._connected(origin, patience.get("connect"))
            self._used.add(connection)
            await connection.ask(data, patience.get("read"))
        except BaseException:
            self._places.release()
            if connection is not None:
                self._used.discard(connection)
                connection.close()
            raise
        body = _Body(self, origin, connection, patience.get("read"))
        return httpx2.Response(connection.status, headers=connection.headers, stream=body)

    def left(self, origin: _Origin, connection: Connection) -> None:
        """Keep ``connection`` for the next request, where it can have one."""
        self._places.release()
        self._used.discard(connection)
        if not connection.can_be_asked_again or self._idle_count >= self._most_idle:
            connection.close()
            return
        connection.rest()
        self._idle.setdefault(origin, deque()).append(connection)
        self._idle_count += 1

    @override
    async def aclose(self) -> None:
        """Close every connection."""
        for connection in (*self._used, *chain.from_iterable(self._idle.values())):
            connection.close()
        self._idle.clear()
        self._idle_count = 0

    def _taken(self, origin: _Origin) -> Connection | None:
        """The connection that was used last; those that waited for too long are closed."""
        waiting = self._idle.get(origin)
        if not waiting:
            return None
        oldest = asyncio.get_running_loop().time() - self._idle_seconds
        while waiting and (waiting[0].idle_since < oldest or not waiting[0].is_open):
            waiting.popleft().close()
            self._idle_count -= 1
        while waiting:
            self._idle_count -= 1
            if (connection := waiting.pop()).is_open:
                return connection
        return None

    async def _place(self, patience: float | None) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        try:
            with anyio.fail_after(patience):
                await self._places.acquire()
        except TimeoutError:
            raise httpx2.PoolTimeout("every connection is in use") from None

    async def _connected(self, origin: _Origin, patience: float | None) -> Connection:
        scheme, host, port = origin
        tls, loop = self._tls if scheme == "https" else None, asyncio.get_running_loop()
        staggered: dict[str, Any] = (
            {"happy_eyeballs_delay": _STAGGER_S} if isinstance(loop, asyncio.BaseEventLoop) else {}
        )
        try:
            with anyio.fail_after(patience):
                _, connection = await loop.create_connection(Connection, host, port, ssl=tls, **staggered)
        except TimeoutError:
            raise httpx2.ConnectTimeout("no connection in time") from None
        except OSError as error:
            raise httpx2.ConnectError(_why(error)) from error
        return connection


class _Body(httpx2.AsyncByteStream):
    """The body of the answer on ``connection``."""

    def __init__(
        self, transport: DirectTransport, origin: _Origin, connection: Connection, patience: float | None
    ) -> None:
        self._transport = transport
        self._origin = origin
        self._connection: Connection | None = connection
        self._patience = patience

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self._connection is not None and (data := await self._connection.read(self._patience)):
            yield data

    @override
    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.left(self._origin, connection)


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError | socket.gaierror):
        return str(error)
    return "All connection attempts failed"


def _origin(url: httpx2.URL) -> _Origin:
    return url.scheme, url.host, url.port or _PORTS[url.scheme]


def _head(request: httpx2.Request) -> bytes:
    """The first lines of ``request``. Raises ``LocalProtocolError`` for a header that would be two."""
    headers = request.headers.raw
    lines = [b"%b %b HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%b: %b" % header for header in headers]
    head = b"\r\n".join(lines)
    if head.count(b"\r") != len(headers) or head.count(b"\n") != len(headers) or b"\0" in head:
        raise httpx2.LocalProtocolError("a header holds the end of a line")
    return head + b"\r\n\r\n"
