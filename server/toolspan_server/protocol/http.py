"""MCP over HTTP: Streamable HTTP at ``/mcp``, HTTP+SSE at ``/sse`` and ``/messages/``, health checks."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from functools import partial

import anyio
import anyio.abc

from ..runtime import Runtime
from ..surface import Surface
from ._behind import Behind, maker
from ._caller import Caller
from ._calls import Calls
from ._web import web_server
from .endpoint import Endpoint
from .guard import Access, App, Guard, Receive, Refused, Scope, Send
from .handshake import Handshake
from .modern import Modern
from .sessions import Sessions
from .short import ShortPath
from .stop import GRACE_S, Stop

_LAST_BYTES_S = 0.05
_MOST_BETWEEN_SWEEPS_S = 60.0


async def serve(
    runtime: Runtime,
    listener: socket.socket,
    access: Access,
    stop: Stop,
    ready: Callable[[], None],
) -> None:
    """Serve on ``listener`` until ``stop`` says so; ``ready`` is called once requests are taken.

    At the end running calls may finish for ``GRACE_S``; then every open stream is closed.
    """
    async with anyio.create_task_group() as helpers:
        application = Application(runtime, access, helpers)
        web = web_server(application.app, runtime.config.limits)
        async with anyio.create_task_group() as serving:
            serving.start_soon(web.serve, [listener])
            await web.listening.wait()
            ready()
            await stop.wait()
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            web.should_exit = True
            await application.calls.finished(GRACE_S)
            await anyio.sleep(_LAST_BYTES_S)
            application.close()
        helpers.cancel_scope.cancel()


class Application:
    """Every route of the server behind its guard, as the ASGI ``app``; ``helpers`` runs its tasks."""

    def __init__(self, runtime: Runtime, access: Access, helpers: anyio.abc.TaskGroup) -> None:
        limits = runtime.config.limits
        surface = Surface(runtime)
        self.calls = Calls(limits.concurrent_calls, limits.queued_calls)
        self._caller = Caller(self.calls)
        self._behind = Behind(maker(surface, self.calls, limits.message_bytes), helpers)
        short = ShortPath(surface)
        sessions = Sessions(limits.sessions, limits.session_idle_seconds)
        bound = access.token is not None
        self._handshake = Handshake(short, self._caller, self._behind, sessions, bound=bound)
        modern = Modern(surface, short, self._caller, self._behind)
        self.app: App = Guard(_Routes(Endpoint(modern, self._handshake), self._behind), access)
        helpers.start_soon(self._sweep, min(limits.session_idle_seconds, _MOST_BETWEEN_SWEEPS_S))

    def close(self) -> None:
        """End every call and every stream that is still open."""
        self._caller.stop()
        self._behind.close()

    async def _sweep(self, every_s: float) -> None:
        while True:
            await anyio.sleep(every_s)
            await self._handshake.sweep()


class _Routes:
    def __init__(self, endpoint: Endpoint, behind: Behind) -> None:
        self._apps: dict[str, App] = {
            "/mcp": endpoint,
            "/sse": partial(_open_sse, behind),
            "/messages/": partial(_post_message, behind),
            "/healthz": _healthy,
            "/readyz": _healthy,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._apps.get(scope["path"])
        if app is None:
            await Refused(404, "Not found: MCP is at /mcp (Streamable HTTP) and /sse (HTTP+SSE)").send(send)
        else:
            await app(scope, receive, send)


async def _open_sse(behind: Behind, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] != "GET":
        await Refused(405, "Method not allowed", ((b"allow", b"GET"),)).send(send)
        return
    sdk = await behind.get()
    await behind.answer(sdk.open_sse, scope, receive, send)


async def _post_message(behind: Behind, scope: Scope, receive: Receive, send: Send) -> None:
    sdk = await behind.get()
    await behind.answer(sdk.post_message, scope, receive, send)


async def _healthy(scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        await Refused(405, "Method not allowed", ((b"allow", b"GET, HEAD"),)).send(send)
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"3")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok\n" if scope["method"] == "GET" else b""})
