"""``/history``: what was said so far."""

from __future__ import annotations

from ....asking.log_lines import log_lines
from ....terminal.output import print_note, print_text
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    del argument
    config = chat.asker.session.config
    if not chat.saved.messages:
        print_note("nothing was said yet")
    for line in log_lines(chat.saved.log()) if chat.saved.messages else ():
        print_text(config.redact(line), err=True)


COMMAND = Command("history", "", "shows what was said so far", _run)
