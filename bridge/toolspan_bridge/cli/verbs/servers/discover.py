"""``toolspan servers discover``: find the MCP servers of other clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ....errors import UsageError
from ...inputs.options import json_option
from ...module_group import Verb
from ...other_clients.discovery import FoundServer, Replacements, UnreadFile, found_servers, without_secrets
from ...other_clients.discovery.clients import CLIENT_NAMES, this_machine
from ...terminal.output import emit_json, emit_table, print_note
from ...terminal.questions.lines import ask_line
from ._writing import chosen_target, note_variables, refuse_overwriting, target_option, write

_EXIT_UNREAD = 2


@click.command(name="discover", cls=Verb, example="toolspan servers discover")
@click.argument("clients", nargs=-1, type=click.Choice(CLIENT_NAMES), metavar="[CLIENT]…")
@click.option(
    "--import",
    "names",
    multiple=True,
    metavar="NAME",
    help="Write this server into a config; CLIENT/NAME where several clients have one. May repeat.",
)
@click.option("--all", "take_all", is_flag=True, help="Write every server that can be used into a config.")
@target_option
@click.option("--overwrite", is_flag=True, help="Replace servers of the same name in the config.")
@click.option("--copy-secrets", is_flag=True, help="Write keys and passwords too, not ${VAR} for them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    clients: tuple[str, ...],
    names: tuple[str, ...],
    take_all: bool,
    target: Path | None,
    overwrite: bool,
    copy_secrets: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Find the MCP servers of other clients on this machine: those of the user, and those of this folder.

    Lists them, and with --import or --all, or when you choose some at a terminal, writes them under
    mcpServers of a config. Nothing is started. For keys and passwords ${VAR} is written; what the clients'
    files hold stays there. Exit 2 when a file of a client is there and cannot be read; the others are listed
    all the same.
    """
    servers, unread = found_servers(this_machine(), clients or CLIENT_NAMES)
    wants = bool(names) or take_all
    if not wants and not as_json:
        _show(servers)
    _note(unread)
    chosen = _wanted(servers, names, take_all=take_all) if wants else _asked(servers, as_json=as_json)
    written = _imported(chosen, target, overwrite, copy_secrets, yes=yes, as_json=as_json) if chosen else None
    if as_json:
        _emit(servers, unread, written)
    return _EXIT_UNREAD if unread else 0


def _show(servers: Sequence[FoundServer]) -> None:
    if not servers:
        print_note("no other client has an MCP server here")
        return
    rows = [
        (
            str(number),
            server.name,
            server.title + (" (this folder)" if server.scope == "project" else ""),
            server.connection() or "–",
            "; ".join(server.problems),
            str(server.file),
        )
        for number, server in enumerate(servers, start=1)
    ]
    emit_table(("", "name", "client", "command or URL", "problems", "file"), rows)


def _note(unread: Sequence[UnreadFile]) -> None:
    for each in unread:
        print_note(f"{each.title}: {each.file} is left out: {each.problem}")


def _wanted(
    servers: Sequence[FoundServer], names: Sequence[str], *, take_all: bool
) -> dict[str, FoundServer]:
    """The servers to import, by the names that they get."""
    if take_all:
        usable = [each for each in servers if each.entry and not _is_ours(each)]
        return _named(usable)
    return _named([_one(servers, name) for name in names])


def _is_ours(server: FoundServer) -> bool:
    return "it is a server of toolspan" in server.problems


def _one(servers: Sequence[FoundServer], name: str) -> FoundServer:
    found = [each for each in servers if name in (each.name, each.full_name)]
    if not found:
        raise UsageError(f"no client has a server {name!r} (`toolspan servers discover` lists them)")
    usable = [each for each in found if each.entry is not None]
    if not usable:
        raise UsageError(f"{found[0].full_name} cannot be imported: {'; '.join(found[0].problems)}")
    first = usable[0]
    if any(each.entry != first.entry for each in usable[1:]):
        which = ", ".join(dict.fromkeys(each.full_name for each in usable))
        raise UsageError(f"several clients have a server {name!r}, and not the same: choose of {which}")
    return first


def _named(servers: Sequence[FoundServer]) -> dict[str, FoundServer]:
    """Each server under its name; of two that differ the second is called after its client too."""
    named: dict[str, FoundServer] = {}
    for server in servers:
        name = server.name
        number = 1
        while name in named and named[name].entry != server.entry:
            name = f"{server.name}-{server.client}" + (f"-{number}" if number > 1 else "")
            number += 1
        if name != server.name and name not in named:
            print_note(f"{server.full_name} is called {name!r}: another one is {server.name!r}")
        named.setdefault(name, server)
    return named


def _asked(servers: Sequence[FoundServer], *, as_json: bool) -> dict[str, FoundServer]:
    """The servers that a person at a terminal chooses."""
    if as_json or not servers or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return {}
    given = ask_line("Import which? Numbers or names, or all; nothing for none")
    words = given.replace(",", " ").split()
    if words == ["all"]:
        return _wanted(servers, (), take_all=True)
    chosen: list[FoundServer] = []
    for word in words:
        if word.isdigit() and 1 <= int(word) <= len(servers):
            server = servers[int(word) - 1]
            if server.entry is None:
                raise UsageError(f"{server.full_name} cannot be imported: {'; '.join(server.problems)}")
            chosen.append(server)
        else:
            chosen.append(_one(servers, word))
    return _named(chosen)


def _imported(
    chosen: dict[str, FoundServer],
    target: Path | None,
    overwrite: bool,
    copy_secrets: bool,
    *,
    yes: bool,
    as_json: bool,
) -> dict[str, Any]:
    path = chosen_target(target)
    replacements = Replacements(os.environ)
    entries = {
        name: _entry(name, server, path, None if copy_secrets else replacements)
        for name, server in chosen.items()
    }
    refuse_overwriting(path, entries, overwrite=overwrite)
    change = write(path, entries, yes=yes, as_json=as_json)
    needed = {
        name: f"its value is in {chosen[server].file}" for name, server in replacements.names.items()
    } | {name: f"{server.title} asks for it" for server in chosen.values() for name in server.asked}
    needed = {name: why for name, why in needed.items() if not os.environ.get(name)}
    if not as_json:
        done = "is as it should be" if change.before == change.after else "has"
        print_note(f"{path} {done}: {', '.join(entries)}")
        for server in chosen.values():
            for problem in server.problems:
                print_note(f"{server.full_name}: {problem}")
        note_variables(needed, path)
    return {"file": str(path), "servers": list(entries), "variables": sorted(needed)}


def _entry(name: str, server: FoundServer, path: Path, replacements: Replacements | None) -> dict[str, Any]:
    """The entry as the config gets it."""
    entry = dict(server.entry or {})
    folder = Path.cwd()
    if server.scope == "project" and "command" in entry and path.absolute().parent != folder:
        entry["cwd"] = str(folder / entry.get("cwd", ""))
    return entry if replacements is None else without_secrets(entry, replacements.of(name))


def _emit(servers: Sequence[FoundServer], unread: Sequence[UnreadFile], written: Any) -> None:
    found = [
        {
            "name": server.name,
            "client": server.client,
            "scope": server.scope,
            "file": str(server.file),
            "connection": server.connection(),
            "env": sorted((server.entry or {}).get("env", {})),
            "headers": sorted((server.entry or {}).get("headers", {})),
            "usable": server.entry is not None,
            "problems": list(server.problems),
        }
        for server in servers
    ]
    broken = [{"client": each.client, "file": str(each.file), "problem": each.problem} for each in unread]
    emit_json({"servers": found, "unread": broken, **({"written": written} if written else {})})
