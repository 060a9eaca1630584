"""The endpoints ``/mcp``, and ``/mcp/NAME`` for each toolset."""

from __future__ import annotations

import re
from collections.abc import Callable

import anyio.abc

from ...http_server.asgi import (
    App,
    Receive,
    RefusedResponse,
    Scope,
    Send,
)
from ...live.runtime import Runtime
from ...live.views import view_of
from ..fast_path import FastPath
from ..state.memory_budgets import MemoryBudgets
from ..state.running_calls import Calls
from .call_runner import CallRunner
from .handshake_era import HandshakeEra
from .mcp_endpoint import Endpoint
from .modern_era import ModernEra
from .sdk.lazy_server import LazySdkServer, maker
from .sessions import Sessions

TOOLSETS = "/mcp/"
"""The prefix of toolsets' paths."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class ToolsetEndpoint:
    """The endpoint of ``toolset``, or of the whole server: with an SDK server and sessions of its own."""

    def __init__(
        self,
        runtime: Runtime,
        toolset: str | None,
        calls: Calls,
        caller: CallRunner,
        sessions: Sessions,
        budgets: MemoryBudgets,
        helpers: anyio.abc.TaskGroup,
    ) -> None:
        view = view_of(runtime, toolset)
        fast_path = FastPath(view)
        message_bytes = runtime.config.limits.message_bytes
        self.sdk_server = LazySdkServer(maker(view, calls, message_bytes, budgets), helpers)
        self.handshake = HandshakeEra(fast_path, caller, self.sdk_server, sessions, toolset)
        self.app: App = Endpoint(ModernEra(view, fast_path, caller, self.sdk_server), self.handshake)


class EndpointRegistry:
    """All endpoints: ``whole``, and those of toolsets, created on first use.

    With ``only``, that toolset takes the place of the whole server. ``create`` makes the endpoint of a
    toolset; without a name, of the whole server.
    """

    def __init__(
        self, runtime: Runtime, only: str | None, create: Callable[[str | None], ToolsetEndpoint]
    ) -> None:
        self._runtime = runtime
        self._only = only
        self._create = create
        self.whole = create(only)
        self._toolsets: dict[str, ToolsetEndpoint] = {} if only is None else {only: self.whole}

    def at(self, path: str) -> App | None:
        """The endpoint at a toolset's ``path``; ``None`` where no toolset has such a path."""
        if not path.startswith(TOOLSETS):
            return None
        name = path.removeprefix(TOOLSETS)
        if name not in self._runtime.config.toolsets or self._only not in (None, name):
            return _unknown(name)
        front = self._toolsets.get(name)
        if front is None:
            front = self._toolsets[name] = self._create(name)
        return front.app

    def part(self) -> None:
        """End the subscriptions, with the message that announces it to their clients."""
        for front in {self.whole, *self._toolsets.values()}:
            front.sdk_server.part()

    def close(self) -> None:
        """End every answer that the SDK is giving."""
        for front in {self.whole, *self._toolsets.values()}:
            front.sdk_server.close()


def _unknown(name: str) -> App | None:
    """Answers that no such toolset exists."""
    if not _NAME.match(name):
        return None
    refused = RefusedResponse(404, f"No toolset {name!r} is served here: everything is at /mcp")

    async def refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
        await refused.send(send)

    return refuse
