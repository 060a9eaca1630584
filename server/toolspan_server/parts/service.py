"""The two types that every service has."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Protocol

from ..schema.records import NamedRecords
from .discovery import Parts
from .environment import Environment


class Service(Protocol):
    """A live service. Handlers reach it by name through ``Context.service``."""

    async def run(self) -> None:
        """Get ready and stay current (index, watch files …) until cancelled."""
        ...


class ServiceConfig(NamedRecords):
    """What ``services.<name>`` says: the things of that service by name."""

    about: ClassVar[str] = ""
    """What the things of this service are: the description of its key."""

    @abstractmethod
    def build(self, environment: Environment) -> Service:
        """The live service, not yet running. Cheap."""


SERVICES = Parts[ServiceConfig]("toolspan_server.tools.services")
"""Every service, by its key in ``services``."""
