"""``toolspan conversations list``: list the saved conversations, the latest first."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click

from ....conversation.store import Entry
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.saved_conversation import SHOWN_ID
from ....sessions.kept.stored import STORED, store_of
from ...host import TERMINAL
from ...inputs.options import config_options, json_option, read_config
from ...module_group import Verb
from ...terminal.output import emit_json, emit_table, print_note


@click.command(name="list", cls=Verb, example="toolspan conversations list --limit 5")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="List at most so many.")
@config_options
@json_option
def command(limit: int, choice: ConfigChoice, as_json: bool) -> None:
    """List the saved conversations, the one that was gone on with last first."""
    store = store_of(read_config(choice, needed=False, keys=STORED), choice, TERMINAL)
    entries = store.entries()
    if as_json:
        emit_json({"conversations": [entry_data(entry) for entry in entries[:limit]]})
    elif entries:
        rows = [
            (
                entry.head.id[:SHOWN_ID],
                entry.changed_at[:16].replace("T", " "),
                entry.head.model,
                entry.head.title,
            )
            for entry in islice(entries, limit)
        ]
        emit_table(("id", "last (UTC)", "model", "title"), rows)
        if len(entries) > limit:
            print_note(f"{len(entries) - limit} more (--limit)")
    else:
        print_note(f"no conversation is saved in {store.folder} yet")


def entry_data(entry: Entry) -> dict[str, Any]:
    """``{"id", "title", "created", "changed", "model", "forked_from", "bytes"}``."""
    head = entry.head
    return {
        "id": head.id,
        "title": head.title,
        "created": head.created,
        "changed": entry.changed_at,
        "model": head.model,
        "forked_from": head.forked_from or None,
        "bytes": entry.size,
    }
