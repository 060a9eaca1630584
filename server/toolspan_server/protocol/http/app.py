"""MCP over HTTP: Streamable HTTP at ``/mcp`` and ``/mcp/TOOLSET``, HTTP+SSE at ``/sse`` and ``/messages/``.

Health checks and metrics are served next to it.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import anyio
import anyio.abc

from ...common.garbage_collector import frozen
from ...common.supervision import kept
from ...common.wire.tap import on_wire
from ...config import Config
from ...http_server.access import AccessOptions
from ...http_server.guard import (
    Access,
    App,
    Guard,
    Receive,
    RefusedResponse,
    Scope,
    Send,
)
from ...http_server.web_server import web_server
from ...live.metrics import Metrics
from ...live.runtime import Runtime
from ...shutdown import GRACE_S, Stop
from ..state.memory_budgets import MemoryBudgets
from ..state.running_calls import Calls
from ..state.waiting_calls import WaitingCalls
from .call_runner import CallRunner
from .endpoints import EndpointRegistry, ToolsetEndpoint
from .repeated_headers import ONCE
from .sdk.lazy_server import LazySdkServer
from .sdk.sdk_user import tell_sdk
from .sessions import Sessions
from .status import (
    counting,
    measure,
    measure_connections,
    status_routes,
)

_LAST_BYTES_S = 0.05
_MOST_BETWEEN_SWEEPS_S = 60.0


async def serve(
    runtime: Runtime,
    listener: socket.socket,
    access: Access | AccessOptions,
    stop: Stop,
    ready: Callable[[], None],
    metrics: Metrics | None = None,
    toolset: str | None = None,
) -> None:
    """Serve on ``listener`` until ``stop`` is set; ``ready`` is called once requests are accepted.

    With ``toolset`` only that is served, as if it were the whole server.

    At the end running calls may finish within ``GRACE_S``; then every open stream is closed.
    """
    stop.attach()
    runtime.serve_remotely()
    async with anyio.create_task_group() as helpers:
        application = Application(runtime, access, helpers, metrics, toolset)
        limits, unread = runtime.config.limits, application.budgets.unread
        web = web_server(_shown(application.app), limits, counting(application.metrics), unread)
        measure_connections(web.connections, application.metrics)
        async with anyio.create_task_group() as serving:
            serving.start_soon(web.serve, [listener])
            await web.listening.wait()
            ready()
            with frozen():
                await stop.wait()
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            web.should_exit = True
            application.part()
            await application.calls.finished(GRACE_S)
            await anyio.sleep(_LAST_BYTES_S)
            application.close()
        helpers.cancel_scope.cancel()


def _shown(app: App) -> App:
    """``app``, its requests and answers told where somebody watches the wire."""
    if (tap := on_wire.get()) is None:
        return app
    from .shown_requests import shown_requests

    return shown_requests(app, tap)


class Application:
    """Every route of the server behind its ``guard``, as the ASGI ``app``; ``helpers`` runs its tasks."""

    def __init__(
        self,
        runtime: Runtime,
        access: Access | AccessOptions,
        helpers: anyio.abc.TaskGroup,
        metrics: Metrics | None = None,
        toolset: str | None = None,
    ) -> None:
        self.runtime = runtime
        self.metrics = Metrics() if metrics is None else metrics
        limits = runtime.config.limits
        asking = WaitingCalls(limits.asking_calls)
        self.calls = Calls(limits.concurrent_calls, limits.queued_calls, asking)
        runtime.use_call_slot(self.calls)
        self._caller = CallRunner(self.calls)
        sessions = Sessions(limits.sessions, limits.session_idle_seconds)
        self.budgets = MemoryBudgets.of(limits)

        def endpoint(of: str | None) -> ToolsetEndpoint:
            return ToolsetEndpoint(runtime, of, self.calls, self._caller, sessions, self.budgets, helpers)

        self._endpoints = EndpointRegistry(runtime, toolset, endpoint)
        measure(runtime, self.calls, sessions, self.metrics)
        routes = _Routes(self._endpoints, status_routes(runtime, self.metrics))
        self.guard = Guard(routes, _access(access, runtime.config), counting(self.metrics), once=ONCE)
        if isinstance(access, AccessOptions):
            runtime.add_follower(partial(self._follow, access))
        self.app: App = self.guard
        every_s = min(limits.session_idle_seconds, _MOST_BETWEEN_SWEEPS_S)
        helpers.start_soon(kept("the sweep of idle sessions", partial(self._sweep, every_s)))

    def part(self) -> None:
        """End the subscriptions of all clients."""
        self._endpoints.part()

    def close(self) -> None:
        """End every call and every stream that is still open."""
        self._caller.stop()
        self._endpoints.close()

    def _follow(self, access_options: AccessOptions, config: Config) -> Callable[[], None]:
        """Update the guard with the access of ``config``."""
        return partial(self.guard.replace, access_options.access(config))

    async def _sweep(self, every_s: float) -> None:
        while True:
            await anyio.sleep(every_s)
            await self._endpoints.whole.handshake.sweep()


def _access(access: Access | AccessOptions, config: Config) -> Access:
    return access.access(config) if isinstance(access, AccessOptions) else access


class _Routes:
    def __init__(self, endpoints: EndpointRegistry, status: Mapping[str, App]) -> None:
        self._endpoints = endpoints
        sdk_server = endpoints.whole.sdk_server
        self._apps: dict[str, App] = {
            "/mcp": endpoints.whole.app,
            "/sse": partial(_open_sse, sdk_server),
            "/messages/": partial(_post_message, sdk_server),
            **status,
        }

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        app = self._apps.get(scope["path"]) or self._endpoints.at(scope["path"])
        if app is None:
            return RefusedResponse(
                404, "Not found: MCP is at /mcp (Streamable HTTP) and /sse (HTTP+SSE)"
            ).send(send)
        return app(scope, receive, send)


async def _open_sse(sdk_server: LazySdkServer, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] != "GET":
        await RefusedResponse(405, "Method not allowed", ((b"allow", b"GET"),)).send(send)
        return
    sdk = await sdk_server.get()
    tell_sdk(scope)
    await sdk_server.answer(sdk.open_sse, scope, receive, send)


async def _post_message(sdk_server: LazySdkServer, scope: Scope, receive: Receive, send: Send) -> None:
    sdk = await sdk_server.get()
    tell_sdk(scope)
    await sdk_server.answer(sdk.post_message, scope, receive, send)
