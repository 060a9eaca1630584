"""``/system [TEXT]``: the system prompt of the conversation."""

from __future__ import annotations

from dataclasses import replace

from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    conversation = chat.saved.conversation
    if argument:
        with chat.saved.written():
            text = "" if argument == "default" else argument
            conversation.settings = replace(conversation.settings, system=text)
            conversation.record()
        chat.options = replace(chat.options, system=None)
    question, _ = await chat.routed("")
    print_note(f"system prompt{' from here on' if argument else ''}: {question.system}")


COMMAND = Command("system", "[TEXT]", "sets the system prompt, or shows it; default: the route's", _run)
