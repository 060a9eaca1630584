"""Consent to what a config runs, connects to and sends, when it was found, not named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from ..problems import json_path
from .consent_contents import (
    entry_contents,
    handler_contents,
    hook_contents,
    program_files,
    source_files,
    tools_contents,
    words_of,
    written_entry,
)
from .models.config import Config

if TYPE_CHECKING:
    from ..schema.mcp_server import McpServerConfig

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class UntrustedItem:
    """One item that is run, connected to or sent when a config is used: ``file`` contains it at ``place``,
    such as ``$.mcpServers.files``.

    ``what`` is the command line, the address, the module, or the variable and where it goes; ``contents`` are
    hashes, by name, of all that it consists of, what is not shown among it.
    """

    file: Path
    place: str
    what: str
    contents: Mapping[str, str] = field(default_factory=dict[str, str])

    @override
    def __str__(self) -> str:
        return f"{self.what}  ({self.file}: {self.place})"


def untrusted_code(config: Config) -> tuple[UntrustedItem, ...]:
    """The items that serving the tools of ``config`` runs, connects to and sends: its handlers' modules, the
    processes and connections of its services, files and folders elsewhere, and variables of the environment.
    """
    return (
        *_handlers(config),
        *_started(config),
        *_connected(config),
        *untrusted_paths(config),
        *_variables(config),
    )


def untrusted_servers(config: Config) -> tuple[UntrustedItem, ...]:
    """The servers under ``mcpServers`` of ``config``, which the bridge connects to."""
    return tuple(
        untrusted_server(
            config.files[0],
            json_path(("mcpServers", name)),
            entry,
            written_entry(config, "mcpServers", name),
            config.redact,
        )
        for name, entry in config.mcp_servers.items()
        if not entry.disabled
    )


def untrusted_approvals(config: Config) -> tuple[UntrustedItem, ...]:
    """The settings of ``config`` by which calls would be made without asking."""
    approvals = config.approvals
    if approvals is None:
        return ()
    never = ["ask about no tool call"] if approvals.policy == "never" else []
    if approvals.outward == "allow":
        never.append("let calls carry data outward after secrets or content from outside were read")
    allowed = [
        f"allow calls of {', '.join(rule.tools or rule.servers or ['any tool'])} without asking"
        for rule in approvals.rules
        if rule.action == "allow"
    ]
    contents = entry_contents(written_entry(config, "approvals"))
    return tuple(UntrustedItem(config.files[0], "$.approvals", what, contents) for what in (*never, *allowed))


def untrusted_store(config: Config) -> tuple[UntrustedItem, ...]:
    """The database on another machine in which ``config`` keeps what validation finds."""
    host = config.validation.store_host if config.validation else None
    if host is None or not config.files:
        return ()
    what = config.redact(f"keep what validation finds in the database on {host}")
    contents = entry_contents(written_entry(config, "validation"))
    return (UntrustedItem(config.files[0], "$.validation.store", what, contents),)


def untrusted_hooks(config: Config) -> tuple[UntrustedItem, ...]:
    """The hooks of ``config``, which the bridge runs; the contents are their code."""
    return tuple(
        UntrustedItem(
            config.files[0],
            f"$.hooks[{place}]",
            f"run {entry.python or entry.tool} {entry.point.replace('_', ' each ')}",
            {**entry_contents(entry.model_dump()), **hook_contents(config, entry.python or "")},
        )
        for place, entry in enumerate(config.hooks)
    )


def untrusted_server(
    file: Path, place: str, entry: McpServerConfig, written: Any, redact: Callable[[str], str] = str
) -> UntrustedItem:
    """The server that ``entry`` of ``file`` starts, or connects to, without values of its variables.
    ``written`` is the entry as the file has it."""
    words = [entry.command or "", *entry.args]
    contents = {**entry_contents(written), **program_files(words, file.parent, entry.cwd)}
    return UntrustedItem(file, place, redact(entry.connection()), contents)


def refusal(found: Sequence[UntrustedItem]) -> str:
    """The message that ``found`` was refused: what it is, and how to allow it."""
    lines = "".join(f"\n    {each}" for each in found[:_SHOWN])
    if len(found) > _SHOWN:
        lines += f"\n    and {len(found) - _SHOWN:,} more"
    return (
        f"what lies in this folder was not named by you, and would run code or send what is yours:{lines}\n"
        "  nothing was run or sent; look at it, then allow it with --trust, or at a terminal, where you are "
        "asked, or name a config with --config FILE, which leaves an .mcp.json alone"
    )


def _handlers(config: Config) -> Iterator[UntrustedItem]:
    for name in config.handlers:
        what = str(config.directory / name) if name.endswith(".py") else name
        contents = {**handler_contents(config, name), **tools_contents(config)}
        yield UntrustedItem(config.files[0], "$.handlers", f"import {what}", contents)


def _started(config: Config) -> Iterator[UntrustedItem]:
    for service, entries in config.services.configured().items():
        for name, what in entries.started():
            yield _of_service(config, service, name, what)


def _connected(config: Config) -> Iterator[UntrustedItem]:
    for service, entries in config.services.configured().items():
        for name, host in entries.hosts():
            what = f"connect to the {service.removesuffix('s')} on {host}"
            yield _of_service(config, service, name, what)
    kept_at = None if config.storage is None else config.storage.host
    if kept_at is not None:
        what = config.redact(f"keep what tools store in the database on {kept_at}")
        contents = entry_contents(written_entry(config, "storage"))
        yield UntrustedItem(config.files[0], "$.storage.url", what, contents)


def untrusted_paths(config: Config) -> Iterator[UntrustedItem]:
    """The files and folders outside of the folder of ``config`` that its tools and routes would use."""
    root = config.directory.resolve()
    for service, entries in config.services.configured().items():
        for name, path in entries.paths():
            found = (root / Path(path).expanduser()).resolve()
            if not found.is_relative_to(root):
                yield _of_service(config, service, name, f"let tools use {found}, outside of the folder")
    if not (state := config.state_directory.resolve()).is_relative_to(root):
        yield UntrustedItem(config.files[0], "$.state_dir", f"keep state in {state}, outside of the folder")


def _of_service(config: Config, service: str, name: str, what: str) -> UntrustedItem:
    place = ("services", service, name)
    contents = {
        **entry_contents(written_entry(config, *place)),
        **program_files(words_of(what), config.directory),
        **tools_contents(config),
    }
    return UntrustedItem(config.files[0], json_path(place), config.redact(what), contents)


def _variables(config: Config) -> Iterator[UntrustedItem]:
    for variable in config.sent:
        verb = "send" if variable.directly else "let tools send"
        where = config.redact(", ".join(variable.hosts[:_SHOWN]))
        contents = {"hosts": entry_contents(list(variable.hosts))["value"], **source_files(config)}
        yield UntrustedItem(variable.file, variable.place, f"{verb} ${variable.name} to {where}", contents)
