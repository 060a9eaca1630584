"""The interface of services: the config, and the live service."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

from ..problems import Path
from ..schema.keys import Inert
from ..schema.records import NamedRecords
from .discovery import Parts
from .environment import Environment


class Service(Protocol):
    """A live service. Handlers reach it by name through ``Context.service``."""

    async def run(self) -> None:
        """Prepare and stay current (index, watch files …) until cancelled."""
        ...


def workers_of(service: Service) -> Sequence[Service]:
    """What is run of ``service``: its ``workers``, if it has any, each of which goes on for as long as any
    service has it; else itself."""
    workers: Sequence[Service] | None = getattr(service, "workers", None)
    return (service,) if workers is None else workers


class ServiceConfig(NamedRecords):
    """The value of ``services.<name>``: the entries of that service by name."""

    about: ClassVar[str] = ""
    """A description of the service's entries: the description of its key."""

    inert: ClassVar[Inert | None] = None
    """Why its entries may be used in a folder that nobody trusts; without it, they are left out there."""

    def hosts(self) -> Iterable[tuple[str, str]]:
        """The hosts that the entries connect to, as (name of the entry, host).

        For a config that was found, not named, a person is asked about each before anything is connected.
        """
        return ()

    def started(self) -> Iterable[tuple[str, str]]:
        """Other commands and URLs that the entries start or connect to, for consent: (name, command line or
        URL).

        Values of variables are not included.
        """
        return ()

    def paths(self) -> Iterable[tuple[str, str]]:
        """The files and folders that the entries give to tools, as (name of the entry, path relative to the
        config's folder).

        For a config that was found, not named, a person is asked about each outside of that folder.
        """
        return ()

    @classmethod
    def is_local(cls, path: Path) -> bool:
        """Whether the string at ``path``, which starts with an entry's name, needs no consent of its own.

        That is so when it is only used on this machine, and when ``started`` asks a person about it anyway.
        """
        return False

    @abstractmethod
    def build(self, environment: Environment) -> Service:
        """The live service, not yet running. Cheap."""

    def renewed(self, environment: Environment, earlier: Service) -> Service:
        """The live service in place of ``earlier``, which was built of another config in the same
        environment: with those of its ``workers`` that may go on."""
        return self.build(environment)


SERVICES = Parts[ServiceConfig]("toolspan_server.tools.services")
"""Every service, by its key in ``services``."""
