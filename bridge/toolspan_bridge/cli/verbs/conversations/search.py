"""``toolspan conversations search``: find the conversations in which something was said."""

from __future__ import annotations

from itertools import islice

import click

from ....conversation.search import Found, search
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.saved_conversation import SHOWN_ID
from ....sessions.kept.stored import STORED, store_of
from ...host import TERMINAL
from ...inputs.options import config_options, json_option, read_config
from ...module_group import Verb
from ...terminal.output import emit_json, emit_table, print_note


@click.command(name="search", cls=Verb, example="toolspan conversations search invoice --limit 5")
@click.argument("text")
@click.option("--regex", is_flag=True, help="TEXT is a pattern of RE2.")
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="Show at most so many places."
)
@config_options
@json_option
def command(text: str, regex: bool, limit: int, choice: ConfigChoice, as_json: bool) -> None:
    """Search the saved conversations for TEXT, in any case: titles, questions, answers, calls and results.

    Of each conversation, with those of its sub-agents, at most three places are shown, the latest first.
    """
    config = read_config(choice, needed=False, keys=STORED)
    found = search(store_of(config, choice, TERMINAL), text, regex=regex, report=print_note)
    shown = list(islice(found, limit))
    if as_json:
        emit_json(
            {
                "found": [
                    {
                        "id": each.entry.head.id,
                        "title": each.entry.head.title,
                        "place": each.place,
                        "message": each.message,
                        "text": config.redact(each.text),
                        "subagent": each.subagent or None,
                    }
                    for each in shown
                ]
            }
        )
    elif shown:
        rows = [
            (entry.head.id[:SHOWN_ID], entry.changed_at[:10], _place(each), config.redact(each.text))
            for each in shown
            for entry in (each.entry,)
        ]
        emit_table(("id", "last", "in", "text"), rows)
    else:
        print_note("nothing was found")


def _place(found: Found) -> str:
    return f"{found.place} (sub-agent)" if found.subagent else found.place
