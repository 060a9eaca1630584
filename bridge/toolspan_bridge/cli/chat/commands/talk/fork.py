"""``/fork [NUMBER]``: goes on with a copy."""

from __future__ import annotations

from .....errors import UsageError
from .....sessions.kept.saved_conversation import SHOWN_ID
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    if not chat.saved.messages:
        raise UsageError("/fork copies a conversation: nothing was said yet")
    if argument and not (argument.isascii() and argument.isdecimal()):
        raise UsageError("/fork takes the number of the last question to copy, as /history shows it")
    before = chat.saved.conversation.id[:SHOWN_ID]
    chat.saved.fork(int(argument) if argument else None)
    print_note(f"this is a copy now, {chat.saved.conversation.id[:SHOWN_ID]}; {before} stays as it is")


COMMAND = Command("fork", "[NUMBER]", "goes on with a copy, of all or up to that question", _run)
