"""``toolspan install``: write a config's server into an MCP client's config."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from toolspan_server.config import (
    Config,
    ConfigError,
    load_config,
    refusal,
)

from ...errors import ConsentError, UsageError
from ...files.replacement import place_within
from ...sessions.chosen.config import ConfigChoice, config_paths_or_default
from ..host import TERMINAL
from ..inputs.options import json_option, read_config, trust_option
from ..module_group import Verb
from ..other_clients.install import (
    CLIENTS,
    Client,
    FileChange,
    ServerEntry,
    apply,
    planned,
    served_by_command,
    snippet,
)
from ..other_clients.install.clients import HostEnvironment, System
from ..terminal.output import emit_document, emit_json, print_message, print_note
from ..terminal.questions.lines import confirm

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@click.command(name="install", cls=Verb, example="toolspan install vscode -c toolspan.yaml")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("-c", "--config", "config_paths", multiple=True, metavar="FILE", help="A config; may repeat.")
@click.option("--name", metavar="NAME", help="What the client calls the server. Default: the config's name.")
@click.option("--scope", type=click.Choice(["user", "project"]), default="user", help="Default: user.")
@click.option("--url", metavar="URL", help="Have the client connect to this URL, not start a command.")
@click.option("--env", "env", multiple=True, metavar="KEY=VALUE", help="A variable that the command gets.")
@click.option(
    "--header", "headers", multiple=True, metavar="KEY=VALUE", help="A header for --url; may repeat."
)
@click.option("--remove", is_flag=True, help="Take the server out again.")
@click.option("--print", "only_print", is_flag=True, help="Print what would be written; touch nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@trust_option
@json_option
def command(
    client: str,
    config_paths: tuple[str, ...],
    name: str | None,
    scope: str,
    url: str | None,
    env: tuple[str, ...],
    headers: tuple[str, ...],
    remove: bool,
    only_print: bool,
    yes: bool,
    trust: bool,
    as_json: bool,
) -> None:
    """Write a config's server into the config of an MCP client.

    Shows what changes and asks first, with *** for what variables and headers hold, which --print shows.
    Keeps the file as it was beside it (.toolspan.bak, then .toolspan.bak.1 and so on). Doing it again changes
    nothing. --remove takes it out.
    """
    if url is not None and (config_paths or env):
        raise UsageError("--url names a server that runs already: leave --config and --env out")
    row, variables = CLIENTS[client], _pairs("--env", env)
    config, files = (None, ()) if url is not None else _config(config_paths, variables, needed=not remove)
    chosen = _name(name, config)
    server = None if remove else _server(files, url, variables, _pairs("--header", headers))
    if only_print and server is not None:
        emit_document(snippet(row, chosen, server))
        return
    change = planned(row, _place(row, scope), chosen, server)
    if only_print:
        emit_document(change.after)
        return
    if config is not None and not remove:
        # the client will serve it by name, which is consent to what it contains
        _allow(ConfigChoice(config_paths, trust=trust), files, variables)
    backup = _applied(change, yes=yes, as_json=as_json)
    _tell(row, client, chosen, change, backup, as_json=as_json)


def _allow(choice: ConfigChoice, files: tuple[Path, ...], env: Mapping[str, str]) -> None:
    """Raise ``ConsentError`` where the config was found and nobody trusts what would be served of it."""
    if choice.may_run:
        return
    found = load_config(*files, environ={**os.environ, **env}, restricted=True).withheld
    if found and not choice.is_trusted(found, TERMINAL, ask=True):
        raise ConsentError(refusal(found))


def _config(
    paths: tuple[str, ...], env: Mapping[str, str], *, needed: bool
) -> tuple[Config | None, tuple[Path, ...]]:
    """The config, which has to be good, and its files; to remove a server, its name is all that counts."""
    files = config_paths_or_default(paths)
    if not files and needed:
        read_config(ConfigChoice(paths))
    try:
        config = load_config(*files, environ={**os.environ, **env}, import_handlers=False) if files else None
    except ConfigError:
        if needed:
            raise
        return None, files
    if needed:
        _warn_of_variables(files, env)
    return config, files


def _warn_of_variables(files: tuple[Path, ...], env: Mapping[str, str]) -> None:
    try:
        load_config(*files, environ=env, import_handlers=False)
    except ConfigError:
        print_note("the config needs variables that the client may not have: give them by --env")


def _server(
    files: tuple[Path, ...], url: str | None, env: Mapping[str, str], headers: Mapping[str, str]
) -> ServerEntry:
    if url is None:
        if headers:
            raise UsageError("--header goes with --url")
        return served_by_command(files, env)
    if not re.fullmatch(r"https?://[^\s/]\S*", url):
        raise UsageError(f"--url {url!r} is not an http or https URL")
    return ServerEntry(url=url, headers=headers)


def _name(name: str | None, config: Config | None) -> str:
    if name is None:
        default = "toolspan" if config is None else config.name
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", default).strip("-")[:64] or "toolspan"
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name {name!r}: use letters, digits, _ - and ., at most 64")
    return name


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals or "\0" in text:
            raise UsageError(f"{option} wants KEY=VALUE")
        pairs[name] = value
    return pairs


def _place(row: Client, scope: str) -> Path:
    """The client's file. Raises ``UsageError``, also where a link leads out of the project."""
    path = row.path(scope, _surroundings())
    if scope == "project":
        try:
            place_within(Path.cwd(), path)
        except OSError as fault:
            raise UsageError(f"{path} cannot be written: {fault.strerror}") from None
    return path


def _surroundings() -> HostEnvironment:
    systems: dict[str, System] = {"win32": "windows", "darwin": "darwin"}
    return HostEnvironment(systems.get(sys.platform, "linux"), Path.home(), os.environ, Path.cwd())


def _applied(change: FileChange, *, yes: bool, as_json: bool) -> Path | None:
    """Show the change, ask, and make it; the backup."""
    if change.action == "unchanged":
        return None
    if not as_json:
        print_message(change.diff().rstrip("\n"), err=True)
    if change.replaced:
        print_note(
            f"warning: {change.path} has another server by that name ({change.replaced}): "
            "this replaces it, --name NAME keeps both"
        )
    if not yes:
        if not sys.stdin.isatty() or as_json:
            raise UsageError(
                "this needs a terminal to ask, so nothing was changed: add --yes to make this change"
            )
        confirm(f"Change {change.path}?")
    return apply(change)


def _tell(
    row: Client, client: str, name: str, change: FileChange, backup: Path | None, *, as_json: bool
) -> None:
    if as_json:
        data: dict[str, Any] = {
            "client": client,
            "path": str(change.path),
            "name": name,
            "action": change.action,
        }
        emit_json({**data, "backup": None if backup is None else str(backup)})
        return
    if change.action == "unchanged":
        print_note(f"{change.path} is as it should be: nothing to do")
        return
    kept = "" if backup is None else f"; what it was before is in {backup}"
    print_note(f"{name!r} was {change.action} in {change.path}{kept}")
    print_note(f"{row.title}: {row.afterwards}")
