"""Servers written into a config: shown, asked about, done."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from toolspan_server.config import DEFAULT_FILES

from ....errors import UsageError
from ....sessions.chosen.config import config_paths_or_default
from ...other_clients.discovery import configured_servers, planned_import
from ...other_clients.install import FileChange, apply
from ...terminal.output import print_message, print_note
from ...terminal.questions.lines import confirm


def target_option(function: Any) -> Any:
    """``--config``, which is ``--to`` too."""
    return click.option(
        "-c",
        "--config",
        "--to",
        "target",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="The config to write to, YAML or JSON. Default: the one that other verbs read, else "
        f"{DEFAULT_FILES[0]} here.",
    )(function)


def chosen_target(given: Path | None) -> Path:
    """The config to write to. Raises ``UsageError`` when it is not clear which."""
    if given is not None:
        return given
    files = config_paths_or_default(())
    return files[0] if files else Path.cwd() / DEFAULT_FILES[0]


def refuse_overwriting(path: Path, servers: Mapping[str, Mapping[str, Any]], *, overwrite: bool) -> None:
    """Raise ``UsageError`` when ``path`` has another server under one of the names, but for ``overwrite``."""
    known = configured_servers(path)
    other = [name for name, entry in servers.items() if name in known and known[name] != dict(entry)]
    if other and not overwrite:
        raise UsageError(
            f"{path} has another server {', '.join(map(repr, other))}: nothing was changed "
            "(--overwrite replaces it)"
        )
    for name in other:
        print_note(f"{name!r} in {path} is replaced")


def write(path: Path, servers: Mapping[str, Mapping[str, Any]], *, yes: bool, as_json: bool) -> FileChange:
    """Show what changes, ask, and write it. Raises ``UsageError`` where nobody can be asked."""
    change = planned_import(path, servers)
    if change.before == change.after:
        return change
    if not as_json:
        print_message(change.diff().rstrip("\n"), err=True)
    if not yes:
        if not sys.stdin.isatty() or as_json:
            raise UsageError("this needs a terminal to ask, so nothing was changed: add --yes to write it")
        confirm(f"Write {change.path}?")
    apply(change, keep=False)
    _note_shadowed(path, change)
    return change


def _note_shadowed(path: Path, change: FileChange) -> None:
    """Say that a folder's .mcp.json is not read any more, when the config has got its first servers."""
    beside = path.absolute().parent / ".mcp.json"
    if beside == path.absolute() or not beside.is_file():
        return
    if change.before is None or not any(
        key in change.before for key in ("mcpServers", "mcp_servers", "servers")
    ):
        print_note(f"{path} has servers of its own now, so {beside} is not read any more beside it")


def note_variables(needed: Mapping[str, str], path: Path) -> None:
    """Say which variables have to be set: a config with one that is not set cannot be read."""
    for name, why in needed.items():
        print_note(f"set {name}{f' ({why})' if why else ''} before you use {path}: it has ${{{name}}}")
