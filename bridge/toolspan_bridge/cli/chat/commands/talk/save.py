"""``/save [FILE]``: says where the conversation is kept, or keeps it in a file from now on."""

from __future__ import annotations

from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    print_note(chat.saved.save_as(argument) if argument else chat.saved.where)


COMMAND = Command("save", "[FILE]", "keeps the conversation in FILE, or says where it is kept", _run)
