"""The two types that every service has."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar, Protocol

from ..problems import Path
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

    def hosts(self) -> Iterable[tuple[str, str]]:
        """The hosts that its things connect to, as (name of the thing, host).

        When the config was found, not named, a person is asked about each before anything is connected.
        """
        return ()

    def started(self) -> Iterable[tuple[str, str]]:
        """What else its things start or connect to, for the person who is asked: (name, command line or URL).

        Values of variables are not in it.
        """
        return ()

    @classmethod
    def is_local(cls, path: Path) -> bool:
        """Whether the string at ``path``, which starts with a thing's name, needs no question of its own.

        So it is where only this machine sees it, and where ``started`` has a person asked about it anyway.
        """
        return False

    @abstractmethod
    def build(self, environment: Environment) -> Service:
        """The live service, not yet running. Cheap."""


SERVICES = Parts[ServiceConfig]("toolspan_server.tools.services")
"""Every service, by its key in ``services``."""
