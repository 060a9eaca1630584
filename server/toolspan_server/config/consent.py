"""Consent to what a config runs, connects to and sends, when it was found, not named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from ..problems import json_path
from .models.config import Config

if TYPE_CHECKING:
    from ..schema.mcp_server import McpServerConfig

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class UntrustedItem:
    """One item that is run, connected to or sent when a config is used: ``file`` contains it at ``place``,
    such as ``$.mcpServers.files``.

    ``what`` is the command line, the address, the module, or the variable and where it goes.
    """

    file: Path
    place: str
    what: str

    @override
    def __str__(self) -> str:
        return f"{self.what}  ({self.file}: {self.place})"


def untrusted_code(config: Config) -> tuple[UntrustedItem, ...]:
    """The items that serving the tools of ``config`` runs, connects to and sends: its handlers' modules, the
    processes and connections of its services, and variables of the environment.
    """
    return (*_handlers(config), *_started(config), *_connected(config), *_variables(config))


def untrusted_servers(config: Config) -> tuple[UntrustedItem, ...]:
    """The servers under ``mcpServers`` of ``config``, which the bridge connects to."""
    return tuple(
        untrusted_server(config.files[0], json_path(("mcpServers", name)), entry, config.redact)
        for name, entry in config.mcp_servers.items()
        if not entry.disabled
    )


def untrusted_approvals(config: Config) -> tuple[UntrustedItem, ...]:
    """The settings of ``config`` by which calls would be made without asking."""
    approvals = config.approvals
    if approvals is None:
        return ()
    never = ["ask about no tool call"] if approvals.policy == "never" else []
    allowed = [
        f"allow calls of {', '.join(rule.tools or rule.servers or ['any tool'])} without asking"
        for rule in approvals.rules
        if rule.action == "allow"
    ]
    return tuple(UntrustedItem(config.files[0], "$.approvals", what) for what in (*never, *allowed))


def untrusted_server(
    file: Path, place: str, entry: McpServerConfig, redact: Callable[[str], str] = str
) -> UntrustedItem:
    """The server that ``entry`` of ``file`` starts, or connects to, without values of its variables."""
    return UntrustedItem(file, place, redact(entry.connection()))


def refusal(found: Sequence[UntrustedItem]) -> str:
    """The message that ``found`` was refused: what it is, and how to allow it."""
    lines = "".join(f"\n    {each}" for each in found[:_SHOWN])
    if len(found) > _SHOWN:
        lines += f"\n    and {len(found) - _SHOWN:,} more"
    return (
        f"what lies in this folder was not named by you, and would run code or send what is yours:{lines}\n"
        "  nothing was run or sent; look at it, then allow it with --trust, or name a config with "
        "--config FILE, which leaves an .mcp.json alone"
    )


def _handlers(config: Config) -> Iterator[UntrustedItem]:
    for name in config.handlers:
        what = str(config.directory / name) if name.endswith(".py") else name
        yield UntrustedItem(config.files[0], "$.handlers", f"import {what}")


def _started(config: Config) -> Iterator[UntrustedItem]:
    for service, entries in config.services.configured().items():
        for name, what in entries.started():
            yield _of_service(config, service, name, what)


def _connected(config: Config) -> Iterator[UntrustedItem]:
    for service, entries in config.services.configured().items():
        for name, host in entries.hosts():
            what = f"connect to the {service.removesuffix('s')} on {host}"
            yield _of_service(config, service, name, what)


def _of_service(config: Config, service: str, name: str, what: str) -> UntrustedItem:
    return UntrustedItem(config.files[0], json_path(("services", service, name)), config.redact(what))


def _variables(config: Config) -> Iterator[UntrustedItem]:
    for variable in config.sent:
        verb = "send" if variable.directly else "let tools send"
        where = config.redact(", ".join(variable.hosts[:_SHOWN]))
        yield UntrustedItem(variable.file, variable.place, f"{verb} ${variable.name} to {where}")
