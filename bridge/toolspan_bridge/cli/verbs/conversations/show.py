"""``toolspan conversations show``: show a saved conversation."""

from __future__ import annotations

from typing import Any

import click

from ....conversation import Conversation
from ....conversation.log import Log
from ....conversation.message_json import message_data
from ....conversation.store import ConversationStore, Entry
from ....errors import UsageError
from ....providers.prices import usd_text
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.stored import STORED, store_of
from ...asking.log_lines import log_lines
from ...host import TERMINAL
from ...inputs import completed
from ...inputs.options import config_options, json_option, read_config
from ...module_group import Verb
from ...terminal.output import emit_json, print_note, print_text
from .list import entry_data


@click.command(name="show", cls=Verb, example="toolspan conversations show ID")
@click.argument("conversation", metavar="ID", shell_complete=completed.conversations)
@config_options
@json_option
def command(conversation: str, choice: ConfigChoice, as_json: bool) -> None:
    """Show the conversation ID: its questions with their numbers, the answers, the calls and their results.

    What sub-agents did is indented below the results of the calls that started them. Values of the config's
    secrets are shown as ***.
    """
    config = read_config(choice, needed=False, keys=STORED)
    store = store_of(config, choice, TERMINAL)
    entry = store.find(conversation)
    log = store.read(entry)
    subagents = _subagents(store, entry)
    if as_json:
        others = [
            {"file": name, "messages": [message_data(message) for message in talk.messages]}
            for name, talk in subagents.items()
        ]
        emit_json({**entry_data(entry), **_data(log), "subagents": others})
        return
    head = log.head
    print_text(config.redact(f"{head.title}\n{head.id}, begun {head.created}; {_cost(log)}\n"))
    for line in log_lines(log, subagents):
        print_text(config.redact(line))


def _subagents(store: ConversationStore, entry: Entry) -> dict[str, Conversation]:
    """The conversations of its sub-agents by the names of their files; what cannot be read is said."""
    found: dict[str, Conversation] = {}
    for path in store.subagent_files(entry):
        try:
            found[path.name] = store.read_subagent(path)
        except UsageError as fault:
            print_note(str(fault))
    return found


def _cost(log: Log) -> str:
    return f"cost: {usd_text(log.conversation.usd)}"


def _data(log: Log) -> dict[str, Any]:
    messages = zip(log.conversation.messages, log.times, strict=True)
    return {
        "usd": log.conversation.usd,
        "messages": [{**message_data(message), "at": at} for message, at in messages],
        "notes": [{"place": note.place, "kind": note.kind, "at": note.at, **note.data} for note in log.notes],
    }
