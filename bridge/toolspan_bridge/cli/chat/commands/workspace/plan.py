"""``/plan``: plan mode, in which only tools that read are called."""

from __future__ import annotations

from .....errors import UsageError
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    if argument not in ("", "off"):
        raise UsageError("/plan takes nothing, or off")
    conversation = chat.saved.conversation
    with chat.saved.written():
        conversation.plan_mode = not argument
    if argument:
        print_note("plan mode is off")
    else:
        print_note("plan mode: only tools that read are called, until you approve a plan, or /plan off")


COMMAND = Command("plan", "[off]", "only tools that read are called, until a plan is approved", _run)
