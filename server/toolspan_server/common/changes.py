"""Changes while the server runs, published to subscribers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Change:
    """What changed: the list of tools, resources or prompts, or the content of the resource ``uri``.

    Clients are told by MCP's ``notifications/tools/list_changed`` …, ``notifications/resources/updated``.
    """

    of: Literal["tools", "resources", "prompts", "resource"]
    uri: str = ""


Listener = Callable[[Change], None]


class Changes:
    """Passes each change on to its listeners; ``version`` counts the changes."""

    def __init__(self) -> None:
        self.version = 0
        self._listeners: dict[object, Listener] = {}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` of every change from now on, until what this gives is called."""
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None

    def publish(self, *changes: Change) -> None:
        """Count and pass on ``changes``. A listener must not block or raise."""
        self.version += 1
        for listener in list(self._listeners.values()):
            for change in changes:
                listener(change)
