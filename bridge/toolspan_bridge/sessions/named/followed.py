"""Resources that a resumed conversation has named: followed again, and compared with what it has of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import anyio

from ...errors import UnreachableError, UsageError
from ...messages import Message, User
from ...toolbox import Toolbox
from .mentions import CUT, Gathered, add_resource, mentioned

_MOST = 50
_SECONDS = 5.0
"""How long servers are waited for before the chat begins; they are asked to tell of changes all the same."""


async def follow_again(messages: Iterable[Message], toolbox: Toolbox) -> list[str]:
    """Have servers tell when the resources change that ``messages`` name with ``@server:uri``; a sentence
    about each that is not now as the conversation has it. Of many the latest are followed."""
    named = dict(list(_named(messages, toolbox))[-_MOST:])
    unknown = dict.fromkeys(named)
    found: dict[tuple[str, str], str] = {}

    async def look(server: str, uri: str, said: User) -> None:
        await toolbox.contents.subscribe(server, uri)
        found[server, uri] = await _difference(server, uri, said, toolbox)
        del unknown[server, uri]

    with anyio.move_on_after(_SECONDS):
        async with anyio.create_task_group() as tasks:
            for (server, uri), said in named.items():
                tasks.start_soon(look, server, uri, said)
    silent = f"its server did not say within {_SECONDS:g} s"
    found |= dict.fromkeys(unknown, f"may have changed since it was read: {silent}")
    return [
        f"the resource {uri} of the server {server!r} {found[server, uri]}"
        for server, uri in named
        if found[server, uri]
    ]


def _named(messages: Iterable[Message], toolbox: Toolbox) -> Iterator[tuple[tuple[str, str], User]]:
    """Each resource with the message that named it; of what was typed, not of what the resources say."""
    for message in messages:
        if isinstance(message, User):
            typed = message.text.partition("\n\n[resource ")[0]
            yield from ((each, message) for each in mentioned(typed, toolbox))


async def _difference(server: str, uri: str, said: User, toolbox: Toolbox) -> str:
    """What is different now from what the message ``said`` has of the resource; empty where nothing is."""
    now = Gathered()
    try:
        await add_resource(server, uri, toolbox, now)
    except UsageError:
        return "is not there any more; the conversation has what it was"
    except UnreachableError as error:
        return f"may have changed since it was read: {error}"
    same = all(_has(said.text, text) for text in now.texts) and all(part in said.parts for part in now.parts)
    return "" if same else "has changed since it was read (name it again to have it read again)"


def _has(said: str, text: str) -> bool:
    """Whether ``said`` has ``text`` of a resource, or as much of it as there was room for."""
    if text in said:
        return True
    origin = text.partition("\n")[0]
    before, cut, _ = said[max(0, said.find(origin)) :].partition(CUT)
    return bool(cut) and text.startswith(before)
