"""The two types that every source has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..schema.records import Record, key
from .discovery import Parts
from .environment import Environment
from .reference import Reference

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


class SourceConfig(Record, ABC):
    """What an entry of ``tools.sources`` says for one type of source."""

    type: str = key()

    def problems(self) -> Iterable[tuple[str, str]]:
        """Faults that no schema shows, as (key, message)."""
        return ()

    @classmethod
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        """The tools and the things of services that ``written``, its data before it is read, names."""
        return ()

    def secrets(self) -> Iterable[str]:
        """Values that no text may show, beyond those that ``${VAR}`` gave."""
        return ()

    def hosts(self) -> Iterable[str]:
        """The hosts that it, and its tools' calls, go to, as far as the config chooses them."""
        return ()

    def variables(self) -> Iterable[tuple[tuple[str, ...], str]]:
        """The variables that it names, other than by ``${VAR}``, and sends: the path of the key, the name."""
        return ()

    @abstractmethod
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        """The live source, not yet running. Cheap."""


SOURCES = Parts[SourceConfig]("toolspan_server.tools.sources")
"""Every type of source, by the ``type`` of its entry in ``tools.sources``."""
