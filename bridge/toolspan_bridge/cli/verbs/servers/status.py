"""``toolspan servers status``: list the remote servers and the sign-ins to them."""

from __future__ import annotations

from typing import Any

import anyio
import click

from ....oauth import KeptSignIn, SignInStore, known_as
from ....sessions.chosen.config import ConfigChoice
from ...inputs.options import config_options, json_option
from ...module_group import Verb
from ...terminal.output import emit_json, emit_table, print_note
from ._chosen import described, remote_servers


@click.command(name="status", cls=Verb, example="toolspan servers status")
@config_options
@json_option
def command(choice: ConfigChoice, as_json: bool) -> None:
    """List the remote servers of the config and all sign-ins that are kept. No server is asked."""
    rows = anyio.run(_rows, choice)
    if as_json:
        emit_json({"servers": rows})
        return
    if not rows:
        print_note("the config has no remote server, and no sign-in is kept")
        return
    shown = [
        (
            row["name"] or "",
            row["server"],
            row.get("issuer", ""),
            " ".join(row.get("scopes", ())),
            row["state"],
        )
        for row in rows
    ]
    emit_table(("name", "server", "signed in at", "scopes", "state"), shown)


async def _rows(choice: ConfigChoice) -> list[dict[str, Any]]:
    known = await SignInStore().known()
    names = {known_as(spec.url): spec.name for spec in remote_servers(choice)}
    rows: list[dict[str, Any]] = []
    for server in [*names, *(each for each in known if each not in names)]:
        row: dict[str, Any] = {"name": names.get(server), "server": server, "state": "not signed in"}
        if server in known:
            kept = known[server]
            row |= described(kept.sign_in, kept.place) | {"state": _state(kept)}
        rows.append(row)
    return rows


def _state(kept: KeptSignIn) -> str:
    if not kept.has_token:
        return "not signed in"
    if kept.renews:
        return "signed in, renewed when needed"
    return "expired" if kept.sign_in.is_over else "signed in"
