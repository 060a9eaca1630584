"""``/quit``: leaves the chat."""

from __future__ import annotations

from ...chat import Chat
from ...command import Command, Leave


async def _run(chat: Chat, argument: str) -> None:
    del chat, argument
    raise Leave


COMMAND = Command("quit", "", "leaves, as Ctrl+D does (or /exit)", _run)
