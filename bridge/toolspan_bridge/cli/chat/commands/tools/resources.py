"""``/resources``: lists what resources the servers have."""

from __future__ import annotations

from .....errors import BridgeError
from ....terminal.output import print_note
from ...chat import Chat
from ...command import Command

_SHOWN = 50


async def _run(chat: Chat, argument: str) -> None:
    del argument
    contents = chat.asker.session.toolbox.contents
    found = False
    for server in contents.servers:
        try:
            listed = [*await contents.resources(server), *await contents.templates(server)]
        except BridgeError as fault:
            print_note(f"{fault}")
            continue
        found = found or bool(listed)
        for uri in listed[:_SHOWN]:
            print_note(f"@{server}:{uri}")
        if len(listed) > _SHOWN:
            print_note(f"and {len(listed) - _SHOWN:,} more of {server}: Tab after @{server}: completes them")
    if not found:
        print_note("no server has a resource")


COMMAND = Command("resources", "", "lists the resources of the servers, which @SERVER:URI attaches", _run)
