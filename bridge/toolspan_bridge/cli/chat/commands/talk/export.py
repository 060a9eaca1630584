"""``/export FORMAT FILE``: writes the conversation for others."""

from __future__ import annotations

from pathlib import Path

from .....errors import UsageError
from .....sessions.kept.exported import exported, write_new
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    from .....conversation.exports import EXPORTS

    form, _, name = argument.partition(" ")
    if form not in EXPORTS or not name.strip():
        raise UsageError(f"/export takes a format and a file: /export {'|'.join(sorted(EXPORTS))} FILE")
    path = Path(name.strip())
    write_new(path, exported(chat.saved.log(), form, chat.asker.session.config))
    print_note(f"the conversation is in {path}")


COMMAND = Command("export", "FORMAT FILE", "writes it as markdown, json or openai messages", _run)
