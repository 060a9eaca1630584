"""``/show [N]``: what was shown in short, whole."""

from __future__ import annotations

from ....terminal.output import emit_text, heading, print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    kept = chat.folded.numbers
    if not kept:
        print_note("nothing was shown in short so far")
        return
    fold = chat.folded.get(int(argument) if argument.isdecimal() else None)
    if fold is None or (argument and not argument.isdecimal()):
        print_note(f"/show takes a number from {kept[0]} to {kept[-1]}; without one it shows the last")
        return
    heading(f"{fold.number}  {fold.title}")
    emit_text(fold.text)


COMMAND = Command("show", "[N]", "shows a result or thoughts whole: number N, or the last", _run)
