"""The servers of a user's other clients, and the files that could not be read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic_core import ValidationError

from toolspan_server.config import McpServerConfig

from ..install.clients import HostEnvironment
from ._documents import Unreadable, document, section
from ._entry import Unusable, entry_of
from ._places import CLIENT_NAMES, Place, Scope, places
from ._secrets import shown_connection
from ._variables import Translation

__all__ = ["FoundServer", "UnreadFile", "found_servers"]

_MOST_SERVERS = 500


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server ``name`` of a client, in ``file``, for the user or the project.

    ``entry`` is what ``mcpServers`` of a config would have for it, its secrets included; without one it
    cannot be used, and ``problems`` say why. With one they say what another client does that we do not.
    """

    name: str
    client: str
    title: str
    scope: Scope
    file: Path
    entry: Mapping[str, Any] | None
    problems: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """Variables of the entry that the client asks a person for."""

    @property
    def full_name(self) -> str:
        """``client/name``."""
        return f"{self.client}/{self.name}"

    def connection(self) -> str:
        """The command line or the URL, without secrets; variables of its environment are not in it."""
        return "" if self.entry is None else shown_connection(self.entry)


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file of a client that is there and cannot be read, and why."""

    client: str
    title: str
    file: Path
    problem: str


def found_servers(
    where: HostEnvironment, clients: Collection[str] = CLIENT_NAMES
) -> tuple[list[FoundServer], list[UnreadFile]]:
    """The servers of ``clients`` on ``where``, in the order of the files; and the files that are broken."""
    servers: list[FoundServer] = []
    unread: dict[Path, UnreadFile] = {}
    for place in places(where):
        if place.client not in clients or place.path in unread:
            continue
        try:
            servers += _of(place, where)
        except Unreadable as fault:
            unread[place.path] = UnreadFile(place.client, place.title, place.path, str(fault))
    return servers, list(unread.values())


def _of(place: Place, where: HostEnvironment) -> Iterator[FoundServer]:
    found = section(document(place.path), place.keys)
    if len(found) > _MOST_SERVERS:
        raise Unreadable(f"it has {len(found):,} servers: at most {_MOST_SERVERS} of a file are read")
    return (_server(place, name, raw, where) for name, raw in found.items())


def _server(place: Place, name: str, raw: Any, where: HostEnvironment) -> FoundServer:
    translation = Translation(place.dialect, where.home, where.project)
    server = FoundServer(name, place.client, place.title, place.scope, place.path, None)
    try:
        entry = entry_of(place.client, raw, translation)
    except Unusable as fault:
        return replace(server, problems=(str(fault),))
    try:
        McpServerConfig.model_validate(entry)
    except ValidationError as error:
        return replace(server, problems=_faults(error))
    problems = [*translation.problems, *_of_ours(entry), *_disabled(entry)]
    return replace(server, entry=entry, problems=tuple(problems), asked=tuple(translation.asked))


def _faults(error: ValidationError) -> tuple[str, ...]:
    """The faults of an entry, without what its variables hold."""
    found = error.errors(include_url=False, include_input=False)
    causes = [str(fault.get("ctx", {}).get("error", fault["msg"])) for fault in found]
    return tuple(cause.removeprefix("$: ") for cause in causes)


def _disabled(entry: Mapping[str, Any]) -> list[str]:
    return ["it is disabled there, and stays so"] if entry.get("disabled") else []


def _of_ours(entry: Mapping[str, Any]) -> list[str]:
    command = " ".join([str(entry.get("command", "")), *map(str, entry.get("args", ()))])
    ours = "toolspan-server" in command or "toolspan_server" in command
    return ["it is a server of toolspan"] if ours else []
