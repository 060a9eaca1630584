"""Change notifications to a client of the eras with a handshake.

MCP 2025-11-25, server/tools, server/resources, server/prompts: ``list_changed`` and ``resources/updated``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.changes import Change
from ..live.views import ServerView
from .messages.capabilities import capabilities
from .state.connection_state import ConnectionState

METHODS = {
    "tools": "notifications/tools/list_changed",
    "resources": "notifications/resources/list_changed",
    "prompts": "notifications/prompts/list_changed",
    "resource": "notifications/resources/updated",
}


class Announcements:
    """The notifications that one client is owed; ``wake`` is called when there are some.

    Only changes that the server declared are sent, of resources only those subscribed to, and each once,
    however often it changed before the notification could be sent.
    """

    def __init__(self, view: ServerView, connection_state: ConnectionState, wake: Callable[[], None]) -> None:
        self._view = view
        self._connection_state = connection_state
        self._wake = wake
        self._owed: dict[Change, None] = {}
        self.close = view.runtime.changes.subscribe(self._note)

    @property
    def owed(self) -> bool:
        """Whether there are some."""
        return bool(self._owed)

    def take(self) -> list[dict[str, Any]]:
        """The notifications, in the order of the changes; none is owed afterwards."""
        owed, self._owed = self._owed, {}
        return [notification(change) for change in owed]

    def _note(self, change: Change) -> None:
        if self._is_wanted(change):
            self._owed[change] = None
            self._wake()

    def _is_wanted(self, change: Change) -> bool:
        if change.of == "resource":
            return change.uri in self._connection_state.uris
        return change.of in capabilities(self._view, modern=False)


def notification(change: Change) -> dict[str, Any]:
    """The JSON-RPC notification of ``change``."""
    params = {"params": {"uri": change.uri}} if change.of == "resource" else {}
    return {"jsonrpc": "2.0", "method": METHODS[change.of], **params}
