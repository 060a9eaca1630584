"""Consent to what a config runs, connects to and sends, when it was found, not named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..problems import Path as Place
from ..problems import json_path
from .code_files import FolderCode, words_of
from .consent_contents import (
    code_contents,
    entry_contents,
    installed_handler,
    named_files,
    settings_contents,
    source_files,
    tools_contents,
    without_words,
    written_entry,
)
from .models.config import Config
from .models.sent_variable import UntrustedItem
from .raw_data import inside

if TYPE_CHECKING:
    from ..schema.mcp_server import McpServerConfig
    from .models.providers import ProviderConfig

_SHOWN = 50
WHOLE = "$"
"""The place of the item that stands for the whole config."""

FILES = "files"
"""The place of the item that stands for the files of the folder that are run."""


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


def withheld_items(config: Config, file: Path, places: Sequence[Place]) -> tuple[UntrustedItem, ...]:
    """What restricted mode leaves out of ``config``, which was read whole from ``file``, at ``places``. Where
    it is known what would be run or sent, the item says so.

    Together they are known by all that the config says, but the words of its tools: what is inert by itself
    may matter beside what is trusted.
    """
    known = [
        *untrusted_code(config),
        *untrusted_servers(config),
        *untrusted_approvals(config),
        *untrusted_hooks(config),
        *untrusted_providers(config),
        *untrusted_store(config),
    ]
    code = code_of_config(config)
    found = [UntrustedItem(file, WHOLE, "all that the config says", settings_contents(config))]
    for place in places:
        shown = json_path(place)
        below = (f"{shown}.", f"{shown}[")
        covered = [each for each in known if each.place == shown or each.place.startswith(below)]
        known = [each for each in known if each not in covered]
        contents = _contents(config, place)
        if not covered:
            found.append(UntrustedItem(file, shown, config.redact(_said(config, place)), contents))
        elif len(covered) == 1:
            found.append(replace(covered[0], contents={**contents, **covered[0].contents}))
        found += covered if len(covered) > 1 else []
    return (*found, *known, *_folder_code(file, code))


def code_of_config(config: Config, works: Sequence[Path] = ()) -> FolderCode:
    """What the handlers, hooks and servers of ``config`` run of its folder, and of the folders ``works``."""
    code = FolderCode(config.directory, works)
    for name in (*config.handlers, *(each.python.rpartition(":")[0] for each in config.hooks if each.python)):
        code.add_module(name, [each.path.parent for each in config.originals])
    for entry in config.mcp_servers.values():
        _add_server(code, entry)
    for entries in config.services.configured().values():
        known: Mapping[str, Any] = getattr(entries, "root", {})
        for name, what in entries.started():
            from ..schema.mcp_server import McpServerConfig  # only a config that starts something needs it

            if isinstance(started := known.get(name), McpServerConfig):
                _add_server(code, started)
            else:
                code.add_command(words_of(what), None, {})
    return code


def _add_server(code: FolderCode, entry: McpServerConfig) -> None:
    if entry.command is not None and not entry.disabled:
        code.add_command([entry.command, *entry.args], entry.cwd, entry.env)


def _folder_code(file: Path, code: FolderCode) -> tuple[UntrustedItem, ...]:
    """The item of the files that ``code`` consists of: one for all entries that may run them."""
    contents = code.contents()
    what = f"run any code of {code.folder} and what belongs to it"
    return (UntrustedItem(file, FILES, what, contents),) if contents else ()


def _contents(config: Config, place: Place) -> dict[str, str]:
    entry = written_entry(config, *place)
    handler = installed_handler(inside(entry, "implementation", "handler"))
    kept = without_words(entry) if place[:2] == ("tools", "registry") else entry
    return {**entry_contents(kept), **named_files(config, *place), **handler}


def _said(config: Config, place: Place) -> str:
    """What is used at ``place``, in a few words."""
    entry = written_entry(config, *place)
    match place:
        case ("tools", "registry", int()):
            made = inside(entry, "implementation")
            by = inside(made, "handler") or inside(made, "url") or inside(made, "type")
            return f"let models call the tool {inside(entry, 'name')!r} ({by})"
        case ("tools", "sources", int()):
            at = (
                inside(entry, "url")
                or inside(entry, "file")
                or inside(entry, "workspace")
                or "another server"
            )
            return f"take tools from {at} ({inside(entry, 'type')})"
        case ("services", service, *name):
            return f"use {service} {' '.join(map(str, name))}".rstrip()
        case ("responses", int()):
            return f"have {inside(entry, 'llm') or '?'}/{inside(entry, 'model') or '?'} answer"
        case ("resources" | "resource_templates", int()):
            return f"serve {inside(entry, 'file') or inside(entry, 'glob') or inside(entry, 'uri')}"
        case _:
            to = f" to {json.dumps(entry)}" if isinstance(entry, bool | int | float) else ""
            return f"set {json_path(place).removeprefix('$.')}{to}"


def untrusted_providers(config: Config) -> tuple[UntrustedItem, ...]:
    """The providers of ``config``: the conversation and a key are sent to their addresses."""
    return tuple(_provider(config, name, entry) for name, entry in config.providers.items())


def _provider(config: Config, name: str, entry: ProviderConfig) -> UntrustedItem:
    key = f"${entry.key_env}" if entry.key_env else "a key" if entry.api_key or entry.headers else "no key"
    what = f"send the conversation, with {key}, to {entry.base_url}"
    place = ("providers", name)
    contents = entry_contents(written_entry(config, *place))
    return UntrustedItem(config.files[0], json_path(place), config.redact(what), contents)


def untrusted_servers(config: Config) -> tuple[UntrustedItem, ...]:
    """The servers under ``mcpServers`` of ``config``, which the bridge connects to."""
    return tuple(
        _server(
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
    found = [("policy", "ask about no tool call")] if approvals.policy == "never" else []
    if approvals.outward == "allow":
        let = "let calls carry data outward after secrets or content from outside were read"
        found.append(("outward", let))
    for index, rule in enumerate(approvals.rules):
        if rule.action == "allow":
            names = ", ".join(rule.tools or rule.servers or ["any tool"])
            found.append((f"rules[{index}]", f"allow calls of {names} without asking"))
    contents = entry_contents(written_entry(config, "approvals"))
    return tuple(
        UntrustedItem(config.files[0], f"$.approvals.{place}", what, contents) for place, what in found
    )


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
            {
                **entry_contents(entry.model_dump()),
                **(code_contents(config, entry.python.rpartition(":")[0]) if entry.python else {}),
            },
        )
        for place, entry in enumerate(config.hooks)
    )


def untrusted_entries(
    file: Path, entries: Sequence[tuple[str, McpServerConfig, Any, Callable[[str], str]]]
) -> tuple[UntrustedItem, ...]:
    """The servers of ``file``, which is no config of ours, with the files of its folder that they run.

    An entry is the server's place in the file, the server, its text as it is written there, and what takes
    values of its variables out of texts.
    """
    code = FolderCode(file.parent)
    for _, entry, _, _ in entries:
        _add_server(code, entry)
    return (*(_server(file, *each) for each in entries), *_folder_code(file, code))


def _server(
    file: Path, place: str, entry: McpServerConfig, written: Any, redact: Callable[[str], str]
) -> UntrustedItem:
    return UntrustedItem(file, place, redact(entry.connection()), entry_contents(written))


def item_lines(found: Sequence[UntrustedItem]) -> list[str]:
    """``found`` for people, a line each: the first of them, and the number of the others."""
    shown = [each for each in found if each.place not in (WHOLE, FILES)] or [*found]
    more = [f"and {len(shown) - _SHOWN:,} more"] if len(shown) > _SHOWN else []
    return [*map(str, shown[:_SHOWN]), *more]


def refusal(found: Sequence[UntrustedItem]) -> str:
    """The message that ``found`` was refused: what it is, and how to allow it."""
    lines = "".join(f"\n    {line}" for line in item_lines(found))
    return (
        f"the config found in this folder is not trusted, and what was asked for needs:{lines}\n"
        "  nothing was run or sent: read it, then allow it with --trust, or at a terminal, where you are "
        "asked, or name a config with --config FILE, which leaves an .mcp.json alone"
    )


def left_out(found: Sequence[UntrustedItem]) -> str:
    """The note that ``found`` is left out, and how to allow it."""
    lines = "".join(f"\n    {line}" for line in item_lines(found))
    return f"this folder is not trusted, so this is left out (--trust allows it):{lines}"


def withheld_login(config: Config) -> tuple[UntrustedItem, ...]:
    """What was left out of the authentication of ``config``: without it, a server would let anybody in."""
    return tuple(
        item
        for item in config.withheld
        if item.place.startswith("$.auth") or (item.place.startswith("$.toolsets") and ".auth" in item.place)
    )


def _handlers(config: Config) -> Iterator[UntrustedItem]:
    for name in config.handlers:
        what = str(config.directory / name) if name.endswith(".py") else name
        contents = {**code_contents(config, name), **tools_contents(config)}
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
    if not (state := (root / config.state_dir).resolve()).is_relative_to(root):
        yield UntrustedItem(config.files[0], "$.state_dir", f"keep state in {state}, outside of the folder")


def _of_service(config: Config, service: str, name: str, what: str) -> UntrustedItem:
    place = ("services", service, name)
    contents = {**entry_contents(written_entry(config, *place)), **tools_contents(config)}
    return UntrustedItem(config.files[0], json_path(place), config.redact(what), contents)


def _variables(config: Config) -> Iterator[UntrustedItem]:
    for variable in config.sent:
        verb = "send" if variable.directly else "let tools send"
        where = config.redact(", ".join(variable.hosts[:_SHOWN]))
        contents = {"hosts": entry_contents(list(variable.hosts))["value"], **source_files(config)}
        yield UntrustedItem(variable.file, variable.place, f"{verb} ${variable.name} to {where}", contents)
