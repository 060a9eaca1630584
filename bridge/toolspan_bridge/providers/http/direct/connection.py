"""A connection to a server, on which one request follows another."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
import httpx2
from typing_extensions import override

__all__ = ["Connection"]

_MOST_AT_ONCE = 64 * 1024
_MOST_WAITING = 256 * 1024
_MOST_BESIDE_BODY = 256 * 1024


class Connection(asyncio.Protocol):
    """What is received here is kept until it is read; of a body at most some 256 KiB, then the server waits.

    Bytes that belong to no answer, an answer that is no HTTP, and 256 KiB that are no part of a body end the
    connection.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._waiter: asyncio.Future[None] | None = None
        self._failure: httpx2.HTTPError | None = None
        self._is_paused = False
        self.is_open = True
        self.idle_since = 0.0
        self._is_asked = False
        self._begin()

    def _begin(self) -> None:
        self._parser: Any = httptools.HttpResponseParser(self)
        self._body = bytearray()
        self._beside_body = 0
        self._to_its_end = self._is_kept_open = False
        self.headers: list[tuple[bytes, bytes]] = []
        self.status = 0
        self.is_whole = False

    async def ask(self, request: bytes, patience: float | None) -> None:
        """Send ``request``, wait for its answer's head: ``status``, ``headers``. Raises ``HTTPError``."""
        self._begin()
        self._is_asked = True
        self._transport.write(request)
        while not self.status:
            await self._wait(patience)

    async def read(self, patience: float | None) -> bytes:
        """The next bytes of the body, at most 64 KiB; none at its end. Raises ``HTTPError``."""
        while not self._body and not self.is_whole:
            await self._wait(patience)
        found = bytes(self._body[:_MOST_AT_ONCE])
        del self._body[:_MOST_AT_ONCE]
        if self._is_paused and len(self._body) < _MOST_WAITING:
            self._is_paused = False
            self._transport.resume_reading()
        return found

    @property
    def can_be_asked_again(self) -> bool:
        """Whether its answer was read to the end, and the server keeps it open."""
        return self.is_open and self.is_whole and not self._body and self._is_kept_open

    def rest(self) -> None:
        """No request is on it until the next."""
        self._is_asked = False
        self.idle_since = self._loop.time()

    def close(self) -> None:
        """End it, whatever is on it."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self, patience: float | None) -> None:
        if self._failure is not None:
            raise self._failure
        self._waiter = self._loop.create_future()
        timer = None if patience is None else self._loop.call_later(patience, self._late)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()
        if self._failure is not None and not (self._body or self.is_whole):
            raise self._failure

    def _late(self) -> None:
        self._fail(httpx2.ReadTimeout("nothing came in time"))

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, failure: httpx2.HTTPError) -> None:
        self._failure = self._failure or failure
        self.close()
        self._wake()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        if not self._is_asked or self.is_whole:
            self.close()
            return
        self._beside_body += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(httpx2.RemoteProtocolError(f"no HTTP: {error}"))
            return
        if self._beside_body > _MOST_BESIDE_BODY:
            self._fail(httpx2.RemoteProtocolError("too much that is no body"))
        elif len(self._body) > _MOST_WAITING and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self.status and self._to_its_end and exc is None:
            self.is_whole = True
        elif not self.is_whole:
            self._failure = self._failure or httpx2.RemoteProtocolError(
                "the connection was closed before the answer was complete"
            )
        self._wake()

    def on_message_begin(self) -> None:
        """Called by the parser, as are all ``on_…``. What begins after the answer was asked for by nobody."""
        if self.is_whole:
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.status:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self.is_whole:
            return
        if status < 200:
            self.headers.clear()
            return
        self.status = status
        names = {name.lower() for name, _ in self.headers}
        self._to_its_end = not names & {b"content-length", b"transfer-encoding"}

    def on_body(self, body: bytes) -> None:
        self._beside_body = 0
        if not self.is_whole:
            self._body += body

    def on_message_complete(self) -> None:
        self.is_whole = bool(self.status)
        self._is_kept_open = self._parser.should_keep_alive()
