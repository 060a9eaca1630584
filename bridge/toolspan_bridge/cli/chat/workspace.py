"""The tools of workspaces that are people's commands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from ...agent.performed import listed_as
from ..terminal.output import print_note
from .chat import Chat

__all__ = ["called"]


async def called(chat: Chat, name: str, **arguments: Any) -> AsyncIterator[dict[str, Any]]:
    """What each workspace of the chat answers to its command ``name`` in this conversation; failures are
    notes, and so is that there is no workspace."""
    toolbox = chat.asker.session.toolbox
    wanted = {tool.name for tool in listed_as(toolbox, name)}
    found = [spec for spec in toolbox.tools if spec.name in wanted and toolbox.is_own(spec.server)]
    if not found:
        print_note("there is no workspace: start with --workspace DIR, or a config that has one")
    for spec in found:
        conversation = chat.saved.conversation.id
        outcome = await toolbox.call(spec, arguments, name, conversation, approved=True)
        if outcome.failed:
            print_note(f"{spec.name}: {outcome.result['error']}")
        else:
            yield outcome.result["result"]
