"""What answers at ``/mcp``, and at ``/mcp/NAME`` for each toolset."""

from __future__ import annotations

import re

import anyio.abc

from ...live.runtime import Runtime
from ...live.views import surface_of
from ..asgi import (
    App,
    Receive,
    Refused,
    Scope,
    Send,
)
from ..fast_path import ShortPath
from ..state.memory_budgets import Budgets
from ..state.running_calls import Calls
from .call_runner import Caller
from .handshake_era import Handshake
from .mcp_endpoint import Endpoint
from .modern_era import Modern
from .sdk.lazy_server import Behind, maker
from .sessions import Sessions

TOOLSETS = "/mcp/"
"""What the paths of toolsets start with."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class Front:
    """The endpoint of ``toolset``, or of everything: an SDK server of its own, and sessions of its own."""

    def __init__(
        self,
        runtime: Runtime,
        toolset: str | None,
        calls: Calls,
        caller: Caller,
        sessions: Sessions,
        budgets: Budgets,
        helpers: anyio.abc.TaskGroup,
    ) -> None:
        surface = surface_of(runtime, toolset)
        short = ShortPath(surface)
        message_bytes = runtime.config.limits.message_bytes
        self.behind = Behind(maker(surface, calls, message_bytes, budgets), helpers)
        self.handshake = Handshake(short, caller, self.behind, sessions, toolset)
        self.app: App = Endpoint(Modern(surface, short, caller, self.behind), self.handshake)


class Fronts:
    """Every endpoint: ``whole``, and those of toolsets, made when they are first asked for.

    With ``only``, that toolset takes the place of everything.
    """

    def __init__(
        self,
        runtime: Runtime,
        only: str | None,
        calls: Calls,
        caller: Caller,
        sessions: Sessions,
        budgets: Budgets,
        helpers: anyio.abc.TaskGroup,
    ) -> None:
        self._runtime = runtime
        self._only = only
        self._parts = (calls, caller, sessions, budgets, helpers)
        self.whole = Front(runtime, only, *self._parts)
        self._toolsets: dict[str, Front] = {} if only is None else {only: self.whole}

    def at(self, path: str) -> App | None:
        """What answers at a toolset's ``path``; ``None`` where no toolset has such a path."""
        if not path.startswith(TOOLSETS):
            return None
        name = path.removeprefix(TOOLSETS)
        if name not in self._runtime.config.toolsets or self._only not in (None, name):
            return _unknown(name)
        front = self._toolsets.get(name)
        if front is None:
            front = self._toolsets[name] = Front(self._runtime, name, *self._parts)
        return front.app

    def part(self) -> None:
        """End the subscriptions, in the way that tells their clients so."""
        for front in {self.whole, *self._toolsets.values()}:
            front.behind.part()

    def close(self) -> None:
        """End every answer that the SDK is giving."""
        for front in {self.whole, *self._toolsets.values()}:
            front.behind.close()


def _unknown(name: str) -> App | None:
    """Says that no toolset has that name, if one could have it."""
    if not _NAME.match(name):
        return None
    refused = Refused(404, f"No toolset {name!r} is served here: everything is at /mcp")

    async def refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
        await refused.send(send)

    return refuse
