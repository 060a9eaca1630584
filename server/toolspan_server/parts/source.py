"""The two types that every source has."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .discovery import Parts
from .environment import Environment
from .typed import TypedConfig

Offer = Callable[[Sequence[Any]], None]
"""Takes all tools of a source, each a ``ToolConfig``; see ``config.models.tools``."""


class Source(Protocol):
    """A live source of tools."""

    async def run(self, offer: Offer) -> None:
        """``offer`` all of the tools as soon as they are known, again whenever they change, until cancelled.

        Every offer replaces the one before. What goes wrong is retried and logged, never raised.
        """
        ...

    def state(self) -> Mapping[str, Any]:
        """Its state, for ``/readyz``: ``{"name": …, "state": "ready" | "waiting" | "failed", …}``."""
        ...


class SourceConfig(TypedConfig):
    """What an entry of ``tools.sources`` says for one type of source."""

    @abstractmethod
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        """The live source, not yet running. Cheap."""


SOURCES = Parts[SourceConfig]("toolspan_server.tools.sources")
"""Every type of source, by the ``type`` of its entry in ``tools.sources``."""
