"""The interface of sources: the config, and the live source."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from .discovery import Parts
from .environment import Environment
from .typed import TypedConfig

Offer = Callable[[Sequence[Any]], None]
"""Called with all tools of a source, each a ``ToolConfig``; see ``config.models.tools``."""


class Source(Protocol):
    """A live source of tools."""

    async def run(self, offer: Offer) -> None:
        """``offer`` all tools as soon as they are known, and again whenever they change, until cancelled.

        Every offer replaces the one before. Errors are retried and logged, never raised.
        """
        ...

    def state(self) -> Mapping[str, Any]:
        """Its state, for ``/readyz``: ``{"name": …, "state": "ready" | "waiting" | "failed", …}``."""
        ...


class SourceConfig(TypedConfig):
    """The config keys of one type of source, in an entry of ``tools.sources``."""

    is_immediate: ClassVar[bool] = False
    """Whether its tools are known at once, so that a server can list them from its start on."""

    @abstractmethod
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        """The live source, not yet running. Cheap."""


SOURCES = Parts[SourceConfig]("toolspan_server.tools.sources")
"""Every type of source, by the ``type`` of its entry in ``tools.sources``."""
