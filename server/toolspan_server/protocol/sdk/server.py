"""The server as the ``mcp`` SDK serves it: its features give plain data, everything else is the SDK's.

Importing this module imports ``mcp``, which takes half a second: import it where it is first needed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import ServerCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from typing_extensions import override

from ..._version import __version__
from ...live.views import ServerView
from ..clients import sealing
from ..features import (
    completions,
    logging,
    prompts,
    resources,
    skills,
    subscriptions,
    tasks,
    tools,
)
from ..messages.capabilities import capabilities
from ..state.connection_state import ConnectionState
from ..state.retention import KeptResults
from ..state.running_calls import Calls
from ..state.tasks import Tasks


def build_server(view: ServerView, calls: Calls, results: KeptResults | None = None) -> SdkServer:
    """The server of ``view``, for every protocol revision that the SDK speaks.

    ``calls`` runs the calls of tools, within their limits; ``results`` bounds the results of tasks.
    """

    def input_schema(name: str) -> dict[str, Any] | None:
        found = view.tool(name)
        return None if found is None else found.tool.config.parameters

    server = SdkServer(view, input_schema)
    results = results or KeptResults(view.config.limits.task_bytes)
    made = Tasks(lambda: view.config.limits.tasks, results)
    tools.register(server, view, calls, tasks.TaskCalls(calls, made))
    tasks.register(server, view, made)
    server.end_subscriptions = subscriptions.register(server, view, made)
    logging.register(server, view)
    resources.register(server, view)
    prompts.register(server, view, calls)
    completions.register(server, view)
    skills.register(server, view)
    # In place of OpenTelemetry's, which is paid for on every message.
    server.middleware[:] = [sealing(view)]
    return server


@asynccontextmanager
async def _single(_server: Server[Any]) -> AsyncGenerator[ConnectionState]:
    """The state of a request that stands by itself: nothing. Sessions bring their own."""
    yield ConnectionState(lasting=False)


class SdkServer(Server[Any]):
    """The SDK's server, with our capabilities. ``end_subscriptions`` ends those that are open."""

    end_subscriptions: Callable[[], None]

    def __init__(self, view: ServerView, input_schema: Callable[[str], dict[str, Any] | None]) -> None:
        super().__init__(
            view.name,
            version=__version__,
            description=view.description,
            instructions=view.instructions,
            lifespan=_single,
            get_tool_input_schema=input_schema,
        )
        self._view = view

    @override
    def get_capabilities(
        self, *_options: Any, protocol_version: str | None = None, **_more: Any
    ) -> ServerCapabilities:
        self.instructions = self._view.instructions  # asked for right after, and another config may have come
        modern = protocol_version in MODERN_PROTOCOL_VERSIONS
        return ServerCapabilities.model_validate(capabilities(self._view, modern=modern))
