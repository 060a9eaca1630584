"""``toolspan conversations delete``: remove saved conversations."""

from __future__ import annotations

import sys

import click

from ....errors import ConsentError
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.stored import STORED, store_of
from ...host import TERMINAL
from ...inputs import completed
from ...inputs.options import config_options, json_option, read_config
from ...module_group import Verb
from ...terminal.output import emit_json, print_note
from ...terminal.questions.lines import confirm


@click.command(name="delete", cls=Verb, example="toolspan conversations delete ID --yes")
@click.argument(
    "conversations", metavar="ID...", nargs=-1, required=True, shell_complete=completed.conversations
)
@click.option("--yes", is_flag=True, help="Delete without asking.")
@config_options
@json_option
def command(conversations: tuple[str, ...], yes: bool, choice: ConfigChoice, as_json: bool) -> None:
    """Delete the conversations ID, for good."""
    store = store_of(read_config(choice, needed=False, keys=STORED), choice, TERMINAL)
    entries = {entry.path: entry for entry in map(store.find, conversations)}.values()
    titles = "; ".join(entry.head.title for entry in entries)
    if not yes:
        if not sys.stdin.isatty():
            raise ConsentError(f"nothing was deleted ({titles}): there is nobody to ask here; add --yes")
        confirm(f"Delete {titles}?")
    for entry in entries:
        store.delete(entry)
    if as_json:
        emit_json({"deleted": [entry.head.id for entry in entries]})
    else:
        print_note(f"deleted: {titles}")
