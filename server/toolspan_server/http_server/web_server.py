"""The HTTP server: uvicorn, with limits on its connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Generator, Sized
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import anyio
import uvicorn
from typing_extensions import override

from .asgi import App, RefusedResponse, RenderOf
from .connection.protocol import Connection
from .connection.settings import Settings
from .unread_bytes import UnreadBytes

if TYPE_CHECKING:
    from ..config import LimitsConfig

_CHECK_EVERY_S = 0.1


class WebServer(uvicorn.Server):
    """uvicorn, with signals left to ``Stop``."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = anyio.Event()
        self._next_check: asyncio.TimerHandle | None = None
        self._checked = 0.0

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        self._checked = loop.time()
        self._check(loop)
        self.listening.set()

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().shutdown(sockets)
        finally:
            if self._next_check is not None:
                self._next_check.cancel()

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    @property
    def connections(self) -> Sized:
        """The open connections."""
        return cast("set[Connection]", self.server_state.connections)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        """Enforce every client's deadlines, with one timer for all connections.

        A connection is closed only if it was late at the previous check too, because the loop polls in
        between: after the process stood still (a busy machine, a handler that holds the interpreter's lock),
        the first check may come before input that arrived in time is read.
        """
        self._next_check = loop.call_later(_CHECK_EVERY_S, self._check, loop)
        now, self._checked = self._checked, loop.time()
        for connection in tuple(cast("set[Connection]", self.server_state.connections)):
            connection.check(now)


def web_server(
    app: App,
    limits: LimitsConfig,
    on_refused: Callable[[RefusedResponse], None] | None = None,
    unread: UnreadBytes | None = None,
    render_of: RenderOf | None = None,
) -> WebServer:
    """The server of ``app`` within ``limits``: ``serve([listener])``, ``listening``, ``should_exit``.

    ``on_refused`` is called for requests refused before any app; ``unread`` bounds what clients do not read;
    ``render_of`` gives what writes the bodies of those refusals.
    """
    settings = Settings(app, limits, Connection, unread or UnreadBytes(limits.unread_bytes))
    settings.render_of = render_of
    if on_refused is not None:
        settings.on_refused = on_refused
    return WebServer(settings)
