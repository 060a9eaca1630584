"""MCP over HTTP: Streamable HTTP at ``/mcp``, HTTP+SSE at ``/sse`` and ``/messages/``, health checks."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from typing_extensions import override

from ._calls import Calls
from .guard import MAX_BODY_BYTES, Access, App, Guard, Receive, Refused, Scope, Send
from .stop import GRACE_S, Stop

_MAX_SESSIONS = 1000
_LAST_BYTES_S = 0.05


async def serve(
    server: Server[Any],
    calls: Calls,
    listener: socket.socket,
    access: Access,
    stop: Stop,
    ready: Callable[[], None],
) -> None:
    """Serve on ``listener`` until ``stop`` says so; ``ready`` is called once requests are taken.

    At the end running calls may finish for ``GRACE_S``; then every open stream is closed.
    """
    # 400 and its reason are the whole answer to an unreadable message; the SDK logs a traceback as well.
    logging.getLogger("mcp.server.sse").setLevel(logging.CRITICAL)
    manager = StreamableHTTPSessionManager(
        server, max_request_body_size=MAX_BODY_BYTES, max_sessions=_MAX_SESSIONS
    )
    requests = _OpenRequests(Guard(_Routes(server, manager), access))
    web = _Web(_settings(requests))
    async with manager.run(), anyio.create_task_group() as group:
        group.start_soon(web.serve, [listener])
        await web.listening.wait()
        ready()
        await stop.wait()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        web.should_exit = True
        await calls.finished(GRACE_S)
        await anyio.sleep(_LAST_BYTES_S)
        requests.close()


def _settings(app: App) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
    )


class _Web(uvicorn.Server):
    """uvicorn, with signals left to ``Stop``."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = anyio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Routes:
    def __init__(self, server: Server[Any], manager: StreamableHTTPSessionManager) -> None:
        self._server = server
        self._sse = SseServerTransport("/messages/", max_request_body_size=MAX_BODY_BYTES)
        self._apps: dict[str, App] = {
            "/mcp": manager.handle_request,
            "/sse": self._open_sse,
            "/messages/": self._sse.handle_post_message,
            "/healthz": _healthy,
            "/readyz": _healthy,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._apps.get(scope["path"])
        if app is None:
            await Refused(404, "Not found: MCP is at /mcp (Streamable HTTP) and /sse (HTTP+SSE)").send(send)
        else:
            await app(scope, receive, send)

    async def _open_sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            await Refused(405, "Method not allowed", ((b"allow", b"GET"),)).send(send)
            return
        async with self._sse.connect_sse(scope, receive, send) as (incoming, outgoing):
            await self._server.run(incoming, outgoing, self._server.create_initialization_options())


async def _healthy(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        await Refused(405, "Method not allowed", ((b"allow", b"GET, HEAD"),)).send(send)
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"3")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok\n" if scope["method"] == "GET" else b""})


class _OpenRequests:
    """Every request that is being answered, so that the end of the server can end them properly."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._scopes: set[anyio.CancelScope] = set()

    def close(self) -> None:
        """End every open answer: a stream with its last chunk, any other with 503."""
        for scope in self._scopes:
            scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = finished = False

        async def noted(message: Any) -> None:
            nonlocal started, finished
            started = True
            finished = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        with anyio.CancelScope() as cancelling:
            self._scopes.add(cancelling)
            try:
                await self._app(scope, receive, noted)
            finally:
                self._scopes.discard(cancelling)
        if not cancelling.cancel_called or finished:
            return
        if started:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await Refused(503, "The server is stopping").send(send)
