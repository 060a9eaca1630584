"""Selects the MCP servers to connect to: from the config, from ``.mcp.json``, and the config's own tools.

Precedence: the config's ``mcpServers``; where it has none, the ``.mcp.json`` of a folder, if one is given.
The config's own tools are connected too, served by a subprocess under the config's ``name``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pydantic_core import ValidationError

from toolspan_server.common.modules.bytecode import keep_bytecode_elsewhere
from toolspan_server.common.regular_files import read_regular
from toolspan_server.common.state.folder import STATE_FOLDER
from toolspan_server.config import (
    Config,
    McpServerConfig,
    UntrustedItem,
    untrusted_entries,
)
from toolspan_server.engines.upstreams import ServerSpec, spec_of
from toolspan_server.problems import json_path

from ..errors import UsageError
from ._variables import expand

MCP_JSON = ".mcp.json"
NAMES_PRINCIPALS = ("--principals", "meta")
"""What makes a server of our own take the principal of each request from its ``_meta``: this program, which
owns its pipe, speaks for everybody who asks it."""
_OWN_GRACE_SECONDS = 5.0
_OWN_START_SECONDS = 50.0
"""Without its own server a config is worth nothing, and a busy machine takes long to start one."""
_WORKSPACE_SECONDS = 3_600.0
"""The longest a call may take that the workspace's own server lets run: it has a timeout for each tool."""

_MOST_BYTES = 4 * 1024 * 1024
_LONGEST_RULES = 100_000
"""Linux takes no argument of a command over 128 KiB."""
_LONGEST_PATHS = 500_000
"""macOS takes no command over 1 MiB, with the environment."""


@dataclass(frozen=True, slots=True)
class McpJson:
    """The ``.mcp.json`` of a folder, as it was read: of each enabled server its name, its entry or what is
    wrong with it, the entry as it is written there, and the values of its variables. A folder without such a
    file has none."""

    path: Path
    entries: tuple[tuple[str, McpServerConfig | str, Any, frozenset[str]], ...]

    @classmethod
    def read(cls, directory: Path) -> McpJson:
        """Raises ``UsageError`` when the file is there and cannot be read."""
        path = directory / MCP_JSON
        return cls(path, tuple(_entries(path)))


def servers_of(
    config: Config | None = None,
    *,
    skip_invalid: bool = False,
    directory: Path | None = None,
    workspace: Path | None = None,
    beside: McpJson | None = None,
    pinned: bool = False,
    further: Sequence[ServerSpec] = (),
) -> list[ServerSpec]:
    """The servers of ``config``, of the ``.mcp.json`` in ``directory`` and of the tools in ``workspace``, if
    these are given. No tool of a workspace changes what decides what this program does: the config's files,
    its state, and what it, these servers and ``further`` ones, which are used with them, run.

    Connecting starts them, so the user is asked about those that they did not name (``foreign_servers``). A
    server that cannot work (a variable is not set, neither command nor url …) has a ``problem``, so that only
    its own tools are missing. ``beside`` is the ``.mcp.json`` where it was read before. ``pinned``: the
    config's own server runs what needs consent only as it was read here. Raises ``UsageError`` when
    ``.mcp.json`` cannot be read.
    """
    config = config or Config()
    timeout = config.tools.default_timeout_ms / 1000
    base = config.directory if config.files else None
    found = [
        replace(spec_of(name, entry, base, timeout), redactor=config.redact)
        for name, entry in config.mcp_servers.items()
        if not entry.disabled
    ]
    if beside is None and directory is not None:
        beside = McpJson.read(directory)
    if not config.mcp_servers and beside is not None:
        found = _from_mcp_json(beside, timeout)
    connect = config.limits.connect_seconds
    found = [replace(spec, connect_timeout=connect) for spec in found]
    if _has_own(config):
        own = _own(config, {spec.name for spec in found}, skip_invalid=skip_invalid, pinned=pinned)
        works = config.services.entries("workspaces")
        found.append(_leaving(own, _left_alone(config, [*found, *further], workspace)) if works else own)
    if workspace is not None:
        made = _of_workspace(workspace, {spec.name for spec in found}, config)
        made = _leaving(made, _left_alone(config, [*found, *further], workspace))
        found.append(replace(made, connect_timeout=_own_connect_seconds(config)))
    return sorted(found, key=lambda spec: spec.name)


def foreign_servers(beside: McpJson) -> tuple[UntrustedItem, ...]:
    """The commands and URLs of the servers of ``beside``, and the files that they run, which need consent."""
    entries = [
        (json_path(("mcpServers", name)), entry, written, ServerSpec(name, secrets=values).redact)
        for name, entry, written, values in beside.entries
        if isinstance(entry, McpServerConfig)
    ]
    return untrusted_entries(beside.path, entries)


def own_server(config: Config, *, skip_invalid: bool = False, pinned: bool = False) -> ServerSpec:
    """The server of the tools that ``config`` itself defines: a subprocess that reads the config's files.

    With ``skip_invalid`` it leaves out tools with a problem; ``pinned``, it runs what needs consent only
    while the files are as they were when ``config`` was read; of a restricted ``config`` it serves what is
    inert. Of a config from no file it has a ``problem``.
    """
    return _own(config, set(), skip_invalid=skip_invalid, pinned=pinned)


def _own(config: Config, taken: set[str], *, skip_invalid: bool, pinned: bool) -> ServerSpec:
    files = [part for path in config.files for part in ("--config", str(path))]
    kept = ["--restricted"] if config.is_restricted else []
    options = ["--skip-invalid"] if skip_invalid else []
    options += ["--pinned", config.fingerprint] if pinned and files and not config.is_restricted else []
    options += ["--no-aggregate"] if config.aggregate is not None else []  # those servers are connected here
    times = [tool.timeout_ms or config.tools.default_timeout_ms for tool in config.tools.registry]
    longest = max(times, default=0)
    if config.tools.sources:
        longest = max(longest, config.tools.default_timeout_ms, *_override_times(config))
    return ServerSpec(
        name=config.name if config.name not in taken else f"{config.name}-own",
        command=(sys.executable, "-P", "-m", "toolspan_server", *NAMES_PRINCIPALS, *kept, *files, *options),
        inherit_env=True,
        call_timeout=longest / 1000 + _OWN_GRACE_SECONDS,
        redactor=config.redact,
        connect_timeout=_own_connect_seconds(config),
        problem="" if files else "its config comes from no file (save it, so that a subprocess can serve it)",
        own=True,
        restricted=config.is_restricted,
    )


def _of_workspace(folder: Path, taken: set[str], config: Config) -> ServerSpec:
    """The server of the tools in ``folder``, which opens no file that the rules of ``config`` deny, and
    changes nothing that ``config`` has this program obey."""
    from toolspan_server.config import WORKSPACE

    rules = _rules(config)
    too_long = len(rules.encode()) > _LONGEST_RULES
    return ServerSpec(
        name=WORKSPACE if WORKSPACE not in taken else f"{WORKSPACE}-own",
        command=(
            *(sys.executable, "-P", "-m", "toolspan_server", *NAMES_PRINCIPALS),
            *("--workspace", str(folder.absolute())),
            *(part for path in config.files for part in ("--beside", str(path))),
            *(("--restricted",) if config.is_restricted else ()),
            *(("--rules", rules) if rules and not too_long else ()),
        ),
        inherit_env=True,
        call_timeout=_WORKSPACE_SECONDS,
        problem=f"approvals.rules are longer than {_LONGEST_RULES:,} bytes of JSON" if too_long else "",
        own=True,
    )


def _left_alone(config: Config, servers: Sequence[ServerSpec], workspace: Path | None) -> list[Path]:
    """What tools leave alone and no file of ``config`` says: what the commands of ``servers`` run, what a
    config from no file obeys, and the state of the server of ``workspace``."""
    from toolspan_server.config.kept_files import command_files, own_paths, worked_in

    found = [] if config.files else [*own_paths(config)]
    works = [*worked_in(config), *([] if workspace is None else [workspace])]
    for spec in servers:
        if spec.command and not spec.own:
            found += command_files(spec.command, spec.cwd, spec.env, works)
    found += [] if workspace is None else [workspace.absolute() / STATE_FOLDER]
    return list(dict.fromkeys(found))


def _leaving(spec: ServerSpec, paths: Sequence[Path]) -> ServerSpec:
    """``spec``, a server of our own, whose tools leave ``paths`` alone."""
    if sum(len(os.fsencode(path)) for path in paths) > _LONGEST_PATHS:
        problem = (
            f"the paths of the files that its tools leave alone are longer than {_LONGEST_PATHS:,} bytes"
        )
        return replace(spec, problem=spec.problem or problem)
    return replace(spec, left_alone=tuple(map(str, paths)))


def _rules(config: Config) -> str:
    """The ``approvals`` of ``config`` as JSON; empty where no rule denies anything."""
    approvals = config.approvals
    if approvals is None or not any(rule.action == "deny" for rule in approvals.rules):
        return ""
    return json.dumps(approvals.model_dump())


def _own_connect_seconds(config: Config) -> float:
    limits = config.limits
    return max(limits.connect_seconds, limits.upstream_connect_seconds + _OWN_START_SECONDS)


def _override_times(config: Config) -> list[int]:
    """The longest timeouts that sources set for single tools."""
    changed = [getattr(source, "tools", None) for source in config.tools.sources]
    return [getattr(each, "timeout_ms", None) or 0 for tools in changed if tools for each in tools.values()]


def _has_own(config: Config) -> bool:
    return config.tools.enabled and bool(config.tools.registry or config.tools.sources)


def _from_mcp_json(found: McpJson, timeout: float) -> list[ServerSpec]:
    keep_bytecode_elsewhere()
    return [
        ServerSpec(name, problem=entry)
        if isinstance(entry, str)
        else replace(spec_of(name, entry, found.path.parent, timeout), secrets=values)
        for name, entry, _, values in found.entries
    ]


def _entries(path: Path) -> Iterator[tuple[str, McpServerConfig | str, Any, frozenset[str]]]:
    """Each enabled server of the file, or its fault; as it is written; and its variables' values."""
    for name, raw in _read_servers(path).items() if os.path.lexists(path) else ():
        expansion = expand(raw, os.environ)
        place = f"$.mcpServers.{name}"
        if expansion.problem:
            yield name, f"{path}: {place}: {expansion.problem}", raw, expansion.values
            continue
        try:
            entry = McpServerConfig.model_validate(expansion.value)
        except ValidationError as error:
            yield name, f"{path}: {_faults(error, place)}", raw, expansion.values
            continue
        if not entry.disabled:
            yield name, entry, raw, expansion.values


def _read_servers(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(read_regular(path, _MOST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error} (correct it, or remove the file)") from None
    wanted = 'an object with "mcpServers": {"NAME": {"command": …} or {"url": …}} is needed'
    if not isinstance(document, dict):
        raise UsageError(f"{path}: {wanted}")
    loaded = cast("dict[str, Any]", document)
    servers: dict[str, Any] = {}
    for key in ("servers", "mcpServers"):
        section: Any = loaded.get(key, {})
        if not isinstance(section, dict):
            raise UsageError(f"{path}: $.{key}: {wanted}")
        servers.update(cast("dict[str, Any]", section))
    return servers


def _faults(error: ValidationError, place: str) -> str:
    """The faults of an entry, each with its position in the file."""
    problems: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        where = place + "".join(f".{part}" for part in fault["loc"])
        cause = fault.get("ctx", {}).get("error")
        sentences = [f"$: {fault['msg']}"] if cause is None else str(cause).split("; $")
        problems += [where + sentence.removeprefix("$") for sentence in sentences]
    return "; ".join(problems)
