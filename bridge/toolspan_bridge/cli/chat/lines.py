"""What the lines of a chat do: ask, or run a command."""

from __future__ import annotations

from ...errors import UsageError
from ...sessions.named.mentions import names_prompt
from ..terminal.output import print_note
from .chat import Chat
from .command import Leave
from .commands import find_command


async def take(chat: Chat, line: str) -> bool:
    """Process ``line``; returns whether the conversation continues. A line that begins with a blank is never
    a command. Raises what the provider raises."""
    try:
        if line.startswith("/") and not names_prompt(line, chat.asker.session.toolbox):
            await _command(chat, line)
        elif text := line.strip():
            await chat.ask(text)
    except Leave:
        return False
    return True


async def _command(chat: Chat, line: str) -> None:
    name, *rest = line[1:].split(None, 1)[:2] or [""]
    try:
        command = find_command(name)
    except UsageError as fault:
        chat.broken = True
        print_note(f"{fault}")
        return
    if rest and not command.usage:
        raise UsageError(f"/{command.name} takes nothing after it, as {rest[0].strip()!r}")
    await command.run(chat, rest[0].strip() if rest else "")
