"""``/resume [ID]``: goes on with another conversation."""

from __future__ import annotations

from itertools import islice

from .....sessions.kept.saved_conversation import SHOWN_ID
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command

_LISTED = 10


async def _run(chat: Chat, argument: str) -> None:
    if argument:
        chat.saved.go_on_with(argument)
        chat.unanswered = None
        print_note(chat.saved.restored)
        await chat.follow_again()
        return
    entries = list(islice(chat.saved.stored(), _LISTED))
    for entry in entries:
        print_note(f"{entry.head.id[:SHOWN_ID]}  {entry.changed_at[:16]}  {entry.head.title}")
    if not entries:
        print_note("no conversation is saved yet")


COMMAND = Command("resume", "[ID]", "goes on with a saved conversation, or lists the latest", _run)
