"""``/prompts``: lists what prompts the servers have."""

from __future__ import annotations

from .....errors import BridgeError
from ....terminal.output import compact, print_note
from ...chat import Chat
from ...command import Command


async def _run(chat: Chat, argument: str) -> None:
    del argument
    contents = chat.asker.session.toolbox.contents
    found = False
    for server in contents.servers:
        try:
            prompts = await contents.prompts(server)
        except BridgeError as fault:
            print_note(f"{fault}")
            continue
        for prompt in prompts:
            found = True
            takes = "".join(f" {n}" if needed else f" [{n}]" for n, needed in prompt.arguments.items())
            about = f" – {compact(prompt.description, 100)}" if prompt.description else ""
            print_note(f"/{server}:{prompt.name}{takes}{about}")
    if not found:
        print_note("no server has a prompt")


COMMAND = Command("prompts", "", "lists the prompts of the servers, which /SERVER:PROMPT asks", _run)
