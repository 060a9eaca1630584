"""``/changes``: what this conversation changed in its workspace."""

from __future__ import annotations

from ....terminal.diffs import coloured
from ....terminal.output import print_coloured, print_note
from ...chat import Chat
from ...command import Command
from ...workspace import called


async def _run(chat: Chat, argument: str) -> None:
    only = {"file_path": argument} if argument else {}
    async for answer in called(chat, "Changes", **only):
        files = answer["files"]
        for file in files:
            print_note(f"{file['file_path']}: {file['status']}")
            print_coloured(coloured(file.get("diff", "").splitlines()))
        if not files:
            print_note("nothing was changed")


COMMAND = Command("changes", "[FILE]", "shows what was changed in the workspace", _run)
