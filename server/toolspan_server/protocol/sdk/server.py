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


def build_server(surface: ServerView, calls: Calls, results: KeptResults | None = None) -> SdkServer:
    """The server of ``surface``, for every protocol revision that the SDK speaks.

    ``calls`` runs the calls of tools, within their limits; ``results`` bounds the results of tasks.
    """

    def input_schema(name: str) -> dict[str, Any] | None:
        found = surface.tool(name)
        return None if found is None else found.config.parameters

    server = SdkServer(surface, input_schema)
    results = results or KeptResults(surface.config.limits.task_bytes)
    made = Tasks(lambda: surface.config.limits.tasks, results)
    tools.register(server, surface, calls, tasks.TaskCalls(surface, calls, made))
    tasks.register(server, surface, made)
    server.end_subscriptions = subscriptions.register(server, surface, made)
    logging.register(server, surface)
    resources.register(server, surface)
    prompts.register(server, surface, calls)
    completions.register(server, surface)
    skills.register(server, surface)
    # In place of OpenTelemetry's, which is paid for on every message.
    server.middleware[:] = [sealing(surface)]
    return server


@asynccontextmanager
async def _single(_server: Server[Any]) -> AsyncGenerator[ConnectionState]:
    """What a request that stands by itself has asked for: nothing. Sessions bring their own ``ConnectionState``."""
    yield ConnectionState(lasting=False)


class SdkServer(Server[Any]):
    """The SDK's server, with our capabilities. ``end_subscriptions`` ends those that are open."""

    end_subscriptions: Callable[[], None]

    def __init__(self, surface: ServerView, input_schema: Callable[[str], dict[str, Any] | None]) -> None:
        super().__init__(
            surface.name,
            version=__version__,
            description=surface.description,
            instructions=surface.instructions,
            lifespan=_single,
            get_tool_input_schema=input_schema,
        )
        self._surface = surface

    @override
    def get_capabilities(
        self, *_options: Any, protocol_version: str | None = None, **_more: Any
    ) -> ServerCapabilities:
        self.instructions = (
            self._surface.instructions
        )  # asked for right after, and another config may have come
        modern = protocol_version in MODERN_PROTOCOL_VERSIONS
        return ServerCapabilities.model_validate(capabilities(self._surface, modern=modern))
