"""One request and its answer: uvicorn's, which can also read and write a whole body at once.

With answers in the two steps of ASGI, which make uvicorn write twice, a call over HTTP costs 1.35 times as
much processor time (``benchmarks/shortcuts.py``).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from .head_cache import ParsedHead

if TYPE_CHECKING:
    from collections.abc import Iterable

    from httptools import HttpRequestParser
    from uvicorn._types import ASGISendEvent

    from ..asgi import Header

CYCLE = "toolspan.cycle"
"""The key of an ASGI scope that holds its ``RequestCycle``."""

_MOST_WHOLE = 65_536
_PERSISTENCE = frozenset((b"connection", b"keep-alive"))


def persistence(idle_seconds: float) -> list[tuple[str, str]]:
    """The headers that tell a client how long it may reuse its connection: half of the time that we wait.

    A client that is given all of it, and whose clock is late, sends a request on a connection that is just
    being closed, and cannot know whether that was answered.
    """
    return [("connection", "keep-alive"), ("keep-alive", f"timeout={max(1, int(idle_seconds / 2))}")]


def complete_scope(scope: Any, parser: HttpRequestParser, target: bytes) -> None:
    """Complete an ASGI scope from the request line."""
    raw_path, _, query = target.partition(b"?")
    path = raw_path.decode("ascii")
    scope["http_version"] = parser.get_http_version()
    scope["method"] = parser.get_method().decode("ascii")
    scope["path"] = unquote(path) if "%" in path else path
    scope["raw_path"] = raw_path
    scope["query_string"] = query


class RequestCycle(RequestResponseCycle):
    """An ASGI request: ``receive`` and ``send``, and ``taken`` and ``whole`` for the most frequent case.

    ``head`` is its cached head, if any, and ``start`` the bytes that a whole answer starts with, up to its
    length. ``unread`` is a body that arrived with its head and was not received yet. ``held`` is the body's
    part of the memory budget.
    """

    head: ParsedHead | None = None
    start: bytes = b""
    unread = False
    held = 0
    _event: asyncio.Event | None = None

    @classmethod
    def of(
        cls, connection: HttpToolsProtocol, scope: Any, start: bytes, *, keep_alive: bool, expects: bool
    ) -> RequestCycle:
        """The request ``scope`` of ``connection``; a whole answer to it begins with ``start``."""
        cycle = cls(
            scope=scope,
            transport=connection.transport,
            flow=connection.flow,
            logger=connection.logger,
            access_logger=connection.access_logger,
            access_log=False,
            default_headers=connection.server_state.default_headers,
            message_event=cast("asyncio.Event", None),
            expect_100_continue=expects,
            keep_alive=keep_alive,
            on_response=connection.on_response_complete,
        )
        cycle.start = start
        scope[CYCLE] = cycle
        return cycle

    @property  # type: ignore[explicit-override]  # mypy sees it not where there is a setter
    @override
    def message_event(self) -> asyncio.Event:
        """Set when there is something to receive; created on first use, since few requests need it."""
        if self._event is None:
            self._event = asyncio.Event()
            if self.unread:
                self._event.set()
        return self._event

    @message_event.setter
    @override
    def message_event(self, given: asyncio.Event) -> None:
        """Ignored: uvicorn would create one for each request."""

    def whole(self, body: bytes) -> bool:
        """Answer 200 with JSON, in one write; returns False when the answer has to go through ``send``."""
        if (
            self.response_started
            or not self.keep_alive
            or self.flow.write_paused
            or self.disconnected
            or len(body) > _MOST_WHOLE
        ):
            return False
        self.response_started = self.response_complete = True
        self.transport.write(b"%s%d\r\n\r\n%s" % (self.start, len(body), body))
        if self._event is not None:
            self._event.set()
        self.on_response()
        return True

    @override
    async def send(self, message: ASGISendEvent) -> None:
        if message["type"] == "http.response.start" and not self._stays(message.get("headers", ())):
            self.default_headers = [line for line in self.default_headers if line[0] not in _PERSISTENCE]
        await super().send(message)

    def _stays(self, headers: Iterable[Header]) -> bool:
        """Whether the connection may be reused, and the app's ``headers`` leave that open."""
        return self.keep_alive and all(name.lower() != b"connection" for name, _ in headers)

    def taken(self) -> bytes | None:
        """The whole body, as ``receive`` would return it, if it is complete; else ``None``."""
        if self.more_body or self.waiting_for_100_continue or self.disconnected or self.flow.read_paused:
            return None
        body, self.body = bytes(self.body), bytearray()
        self.unread = False
        if self._event is not None:
            self._event.clear()
        return body
