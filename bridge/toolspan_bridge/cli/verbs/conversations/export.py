"""``toolspan conversations export``: print a saved conversation in a form that others read."""

from __future__ import annotations

from pathlib import Path

import click

from ....conversation.exports import EXPORTS
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.exported import exported, write_new
from ....sessions.kept.stored import STORED, store_of
from ...host import TERMINAL
from ...inputs import completed
from ...inputs.options import config_options, read_config
from ...module_group import Verb
from ...terminal.output import emit_document


@click.command(name="export", cls=Verb, example="toolspan conversations export ID --format markdown")
@click.argument("conversation", metavar="ID", shell_complete=completed.conversations)
@click.option(
    "--format",
    "form",
    type=click.Choice(sorted(EXPORTS)),
    default="markdown",
    show_default=True,
    help="markdown for people; json, the whole, which chat --resume reads; openai, the messages of Chat "
    "Completions.",
)
@click.option("-o", "--output", metavar="FILE", help="Write FILE, which must not be there, not stdout.")
@config_options
def command(conversation: str, form: str, output: str | None, choice: ConfigChoice) -> None:
    """Print the conversation ID in another form.

    Values of the config's secrets are written as ***: what is exported may be given to others.
    """
    config = read_config(choice, needed=False, keys=STORED)
    store = store_of(config, choice, TERMINAL)
    text = exported(store.read(store.find(conversation)), form, config)
    if output is None:
        emit_document(text)
    else:
        write_new(Path(output), text)
