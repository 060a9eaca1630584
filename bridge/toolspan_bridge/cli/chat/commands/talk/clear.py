"""``/clear``: begins another conversation."""

from __future__ import annotations

from .....errors import UsageError
from ....terminal.output import clear_screen, print_note
from ....terminal.questions.one_question import agreed_here, has_terminal
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    del argument
    saved = chat.saved
    question = "This conversation is not saved. Leave it for good?"
    if saved.messages and not saved.is_kept and not await agreed_here(question):
        raise UsageError("this conversation is not saved: /save FILE keeps it, then /clear begins another")
    left = saved.name
    if has_terminal():
        clear_screen()  # before the notes of what is left
    saved.start_anew()
    chat.unanswered = None
    print_note(f"a new conversation starts{f'; /resume {left} goes on with the one before' if left else ''}")


COMMAND = Command("clear", "", "starts another conversation; what was said stays saved (or /new)", _run)
