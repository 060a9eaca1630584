"""``/undo``: takes back changes of the workspace."""

from __future__ import annotations

from typing import Any

from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command
from ...workspace import called


async def _run(chat: Chat, argument: str) -> None:
    which: dict[str, Any] = (
        {"all": True} if argument == "all" else {"file_path": argument} if argument else {}
    )
    async for answer in called(chat, "Undo", **which):
        for change in answer["undone"]:
            print_note(f"{change['file_path']}: undone")
        for change in answer["kept"]:
            print_note(f"{change['file_path']}: not undone: {change['why']}")
        if not answer["undone"] and not answer["kept"]:
            print_note("there is nothing to undo")


COMMAND = Command("undo", "[FILE|all]", "takes back the last change, those of a file, or all", _run)
