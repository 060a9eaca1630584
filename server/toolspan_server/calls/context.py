"""The context that a handler gets of the call that it serves."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..common.changes import Change
from ..common.flags import Flag
from ..errors import ToolFailure
from .caller import Caller, Origin
from .client import Client, NullClient
from .results import ToolResult
from .storage import DocumentStore, NoStore, ToolStorage

CallTool = Callable[[str, Mapping[str, Any], "Context"], Awaitable[ToolResult]]
Publish = Callable[[Change], None]


NO_STORE = NoStore()


async def _call_nothing(name: str, arguments: Mapping[str, Any], context: Context) -> ToolResult:
    raise ToolFailure(f"Tool '{name}' cannot be called from here")


def discard_changes(change: Change) -> None:
    """Discard changes: the default without a server."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all calls of one config have in common, whoever makes them: the live services by name, the folder
    at which relative paths start, and where ``storage`` keeps values."""

    services: Mapping[str, Any] = field(default_factory=dict[str, Any])
    config_dir: Path = Path()
    store: DocumentStore = NO_STORE


@dataclass(slots=True)  # one is made for each call: a frozen one takes four times as long
class Context:
    """One call's surroundings, given to every handler as its second argument.

    ``origin`` is where its request comes from: there is no call of nobody. ``tool_name`` is the called tool,
    ``config_dir`` the folder at which relative paths start. ``services`` maps a configured service's name to
    the live service; ``meta`` is the request's ``_meta``; ``client`` is who called; ``depth`` counts the
    tools that this call is made by; ``publish`` notifies every client of a change of the server's lists;
    ``options`` is what the config says under ``options``, as the model that the handler registered; ``store``
    is where ``storage`` keeps values. A handler that runs in a worker thread looks at ``cancelled`` (or calls
    ``raise_if_cancelled``) between steps: it is set when the call timed out or was cancelled. An ``async``
    handler is cancelled in the usual way.
    """

    origin: Origin
    tool_name: str = ""
    services: Mapping[str, Any] = field(default_factory=dict[str, Any])
    config_dir: Path = Path()
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cancelled: threading.Event = field(default_factory=Flag)
    client: Client = field(default_factory=NullClient)
    depth: int = 0
    call_tool: CallTool = _call_nothing
    options: Any = None
    publish: Publish = discard_changes
    store: DocumentStore = NO_STORE

    @property
    def caller(self) -> Caller:
        """The user and the conversation that the call's state is kept for.

        Raises ``InvalidParameters`` when the request names no valid conversation.
        """
        return self.origin.caller(self.meta)

    @property
    def storage(self) -> ToolStorage:
        """What this tool keeps for the user and the conversation of the call, and for no other.

        Raises ``InvalidParameters`` when the request names no valid conversation.
        """
        return ToolStorage(*self.caller, self.tool_name, self.store)

    def service(self, name: str) -> Any:
        """The live service ``name``. Raises ``ToolFailure`` when the config has none of that name."""
        try:
            return self.services[name]
        except KeyError:
            raise ToolFailure(
                f"Service '{name}' is not configured",
                error_code="service_not_configured",
                user_action=f"Add services.{name} to the config and start the server again.",
            ) from None

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """The result of another tool of this server, called in this call's name; a failure is a result too.

        Raises ``ToolFailure`` in a context that was made without a server.
        """
        from .child_tasks import apart

        with apart():
            return await self.call_tool(name, arguments, self)

    def raise_if_cancelled(self) -> None:
        """Stop here, from a worker thread, when nobody waits for the result any more."""
        if self.cancelled.is_set():
            raise ToolFailure(
                "The call was cancelled", error_code="cancelled", user_action="Call again if needed."
            )
