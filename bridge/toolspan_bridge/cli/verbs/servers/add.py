"""``toolspan servers add``: add the server of a registry entry (server.json)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import click

from ....errors import UsageError
from ...inputs.options import json_option
from ...module_group import Verb
from ...other_clients.discovery.registry import (
    Inputs,
    Offer,
    RegistryServer,
    Wanted,
    entry_of,
    registry_document,
    registry_server,
)
from ...terminal.output import emit_json, print_message, print_note
from ...terminal.questions.lines import ask_line
from ...terminal.waiting.waits import waiting
from ._writing import chosen_target, note_variables, refuse_overwriting, target_option, write


@click.command(name="add", cls=Verb, example='toolspan servers add "npx some-server" --name some')
@click.argument("place", metavar="FILE|URL")
@click.option("--name", metavar="NAME", help="What the config calls it. Default: the last part of its name.")
@click.option(
    "--use",
    metavar="TYPE|NUMBER",
    help="Which of its packages or remotes: npm, pypi, oci, nuget, streamable-http, sse, or its number.",
)
@click.option(
    "--set", "values", multiple=True, metavar="NAME=VALUE", help="A variable or argument; may repeat."
)
@click.option("--allow-private", is_flag=True, help="Fetch the URL though its address is private.")
@target_option
@click.option("--overwrite", is_flag=True, help="Replace a server of the same name in the config.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    place: str,
    name: str | None,
    use: str | None,
    values: tuple[str, ...],
    allow_private: bool,
    target: Path | None,
    overwrite: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Add the server of a registry entry (server.json) to the mcpServers of a config.

    FILE|URL holds the entry, or a registry's answer, as that of
    https://registry.modelcontextprotocol.io/v0.1/servers/NAME/versions/latest. Of its packages and remotes
    the first that can be used is taken, or the one of --use. Required values are asked for at a terminal;
    secrets, and what nobody gave, are written as ${VAR}. Nothing is downloaded or started.
    """
    server = registry_server(anyio.run(_document, place, allow_private))
    asks = sys.stdin.isatty() and not as_json and not yes
    inputs = Inputs(_pairs(values), _ask if asks else lambda _: None)
    offer = _chosen(server, use)
    if not as_json:
        _introduce(server, offer)
    entry = entry_of(offer, inputs)
    if unused := [key for key in inputs.given if key not in inputs.used]:
        raise UsageError(f"--set {unused[0]}: {offer.what} has no such input")
    path, chosen = chosen_target(target), name or server.short_name()
    refuse_overwriting(path, {chosen: entry}, overwrite=overwrite)
    change = write(path, {chosen: entry}, yes=yes, as_json=as_json)
    needed = {key: why for key, why in inputs.left.items() if not os.environ.get(key)}
    if as_json:
        emit_json({"file": str(path), "name": chosen, "entry": entry, "variables": sorted(needed)})
        return
    done = "has it already" if change.before == change.after else "has it now"
    print_note(f"{path} {done}: {chosen}")
    note_variables(needed, path)


async def _document(place: str, allow_private: bool) -> object:
    with waiting(f"the entry at {place}"):
        return await registry_document(place, allow_private=allow_private)


def _pairs(given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if any(not name or not equals for name, equals, _ in pairs):
        raise UsageError("--set wants NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _chosen(server: RegistryServer, use: str | None) -> Offer:
    if use is None:
        usable = [offer for offer in server.offers if not offer.problem]
        if not usable:
            raise UsageError(f"{server.name} cannot be added:{_listed(server)}")
        return usable[0]
    if use.isdigit() and 1 <= int(use) <= len(server.offers):
        return server.offers[int(use) - 1]
    found = [offer for offer in server.offers if offer.kind == use]
    if not found:
        raise UsageError(f"--use {use}: {server.name} has:{_listed(server)}")
    return next((offer for offer in found if not offer.problem), found[0])


def _listed(server: RegistryServer) -> str:
    return "".join(
        f"\n{number}. {offer.what}" + (f": {offer.problem}" if offer.problem else "")
        for number, offer in enumerate(server.offers, start=1)
    )


def _introduce(server: RegistryServer, offer: Offer) -> None:
    """Say what is added, and what else there is."""
    about = f": {server.description}" if server.description else ""
    print_message(f"{server.name} {server.version}{about}", err=True)
    if server.notice:
        print_note(server.notice)
    if len(server.offers) > 1:
        print_note(f"this is {offer.what} (--use chooses of {len(server.offers)}):{_listed(server)}")


def _ask(wanted: Wanted) -> str | None:
    """What a person gives for an input; nothing leaves it a variable."""
    about = f" – {wanted.description}" if wanted.description else ""
    choices = f" ({', '.join(wanted.choices)})" if wanted.choices else ""
    example = f", such as {wanted.placeholder}" if wanted.placeholder else ""
    while True:
        given = ask_line(f"{wanted.name}{about}{choices}{example}")
        if not given:
            return None
        if not wanted.choices or given in wanted.choices:
            return given
        print_note(f"choose one of {', '.join(wanted.choices)}")
