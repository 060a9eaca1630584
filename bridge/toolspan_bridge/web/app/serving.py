"""Serving the app: the server's own hardened HTTP server, until the end is asked for."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from toolspan_server.common.garbage_collector import frozen
from toolspan_server.http_server.web_server import web_server

from .application import Application

if TYPE_CHECKING:
    from toolspan_server.config import LimitsConfig
    from toolspan_server.shutdown import Stop

LIMIT_S = 4.0
"""When the process ends whatever still runs, counted from the signal."""

MOST_CONNECTIONS = 1_200
"""Open connections where the config does not say how many: the gateway's streams, and pages beside them."""

_LAST_BYTES_S = 0.05
_GRACE_S = 1.0


async def serve(
    application: Application, listener: socket.socket, stop: Stop, ready: Callable[[], None]
) -> None:
    """Serve ``application`` on ``listener`` until ``stop`` is set; ``ready`` is called once requests are
    accepted.

    At the end requests that are being answered may finish within a second, then every open stream is closed.
    """
    async with application.running() as app:
        web = web_server(app, _limits(application.state.config.limits), render_of=application.render_of)
        async with anyio.create_task_group() as serving:
            serving.start_soon(web.serve, [listener])
            await web.listening.wait()
            stop.attach()
            ready()
            with frozen():
                await stop.wait()
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            web.should_exit = True
            await application.finished(_GRACE_S)
            application.close()
            await anyio.sleep(_LAST_BYTES_S)


def _limits(limits: LimitsConfig) -> LimitsConfig:
    if "connections" in limits.model_fields_set:
        return limits
    return limits.model_copy(update={"connections": MOST_CONNECTIONS})
