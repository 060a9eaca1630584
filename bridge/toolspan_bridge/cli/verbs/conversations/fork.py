"""``toolspan conversations fork``: copy a saved conversation, to go on with it another way."""

from __future__ import annotations

import click

from ....conversation.fork import forked
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.stored import STORED, store_of
from ...host import TERMINAL
from ...inputs import completed
from ...inputs.options import config_options, json_option, read_config
from ...module_group import Verb
from ...terminal.output import emit_json, emit_text, print_note


@click.command(name="fork", cls=Verb, example="toolspan conversations fork ID --at 2")
@click.argument("conversation", metavar="ID", shell_complete=completed.conversations)
@click.option(
    "--at",
    "questions",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Copy only up to this question (its number in `conversations show`) and what came of it.",
)
@config_options
@json_option
def command(conversation: str, questions: int | None, choice: ConfigChoice, as_json: bool) -> None:
    """Copy the conversation ID and print the id of the copy; the original stays as it is."""
    store = store_of(read_config(choice, needed=False, keys=STORED), choice, TERMINAL)
    log = store.read(store.find(conversation))
    copy = forked(log.conversation, questions)
    problems: list[str] = []
    copy.journal = journal = store.journal(copy, problems.append, origin=log.head)
    copy.record()
    journal.close()
    for problem in problems:
        print_note(problem)
    if as_json:
        emit_json({"id": copy.id, "forked_from": log.head.id})
    else:
        emit_text(copy.id)
