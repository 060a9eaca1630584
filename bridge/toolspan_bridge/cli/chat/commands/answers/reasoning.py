"""``/reasoning EFFORT``: how much the model is to think."""

from __future__ import annotations

from dataclasses import replace

from .....messages import EFFORTS, ReasoningEffort
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    known: dict[str, ReasoningEffort] = {each: each for each in EFFORTS}
    if argument != "default" and argument not in known:
        print_note(f"/reasoning takes one of {', '.join(EFFORTS)}, default")
        return
    chat.options = replace(chat.options, reasoning=known.get(argument))
    print_note(f"reasoning: {argument}")


COMMAND = Command("reasoning", "EFFORT", "says how much to think: none, low, medium, high, or default", _run)
