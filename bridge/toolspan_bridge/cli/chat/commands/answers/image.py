"""``/image FILE``: a picture that goes with the next question."""

from __future__ import annotations

from dataclasses import replace

from .....errors import UsageError
from ....inputs.images import read_images
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    if not argument:
        raise UsageError("/image needs a file: /image FILE")
    chat.options = replace(chat.options, images=(*chat.options.images, *read_images([argument])))
    print_note(f"{argument} goes with the next question")


COMMAND = Command("image", "FILE", "goes with the next question", _run)
