"""``/edit [TEXT]``: writes the next line in an editor."""

from __future__ import annotations

import anyio.to_thread
import click

from .....errors import UsageError
from ....terminal.output import edited_text
from ....terminal.questions.one_question import has_terminal
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    if not has_terminal():
        raise UsageError("/edit needs a terminal")
    try:
        text = await anyio.to_thread.run_sync(edited_text, argument, ".md")
    except click.ClickException as fault:
        raise UsageError(f"{fault.format_message()}: set $VISUAL or $EDITOR to an editor") from None
    chat.draft = text.rstrip("\n")


COMMAND = Command(
    "edit", "[TEXT]", "writes the next question in $VISUAL or $EDITOR; Enter then sends it", _run
)
