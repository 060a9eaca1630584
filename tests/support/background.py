"""Conversations that go on in the background: a real session, real tools, a model that plays a script."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import yaml

from toolspan_bridge.cli.host import TERMINAL
from toolspan_bridge.sessions.asker import RoutedAsker
from toolspan_bridge.sessions.chosen.config import ConfigChoice
from toolspan_bridge.sessions.session import Session, opened
from toolspan_bridge.web.conversations.details import Details
from toolspan_bridge.web.conversations.engine import Conversations
from toolspan_bridge.web.conversations.event_log import ConversationEvent
from toolspan_bridge.web.conversations.limits import ConversationLimits
from toolspan_bridge.web.conversations.own import OwnConversations

TOOLS = """
name: own
tools:
  registry:
    - name: look
      description: Looks.
      parameters: {type: object, properties: {place: {type: string}}}
      implementation: {type: mock, mock_response: seen}
    - name: remove
      description: Removes.
      annotations: {destructive: true}
      parameters: {type: object, properties: {place: {type: string}}, required: [place]}
      implementation: {type: builtin, handler: echo}
    - name: wait
      description: Waits.
      parameters: {type: object}
      timeout_ms: 120000
      implementation: {type: mock, steps: [{delay_ms: 100000}], response: waited}
    - name: book
      description: Asks for a day.
      parameters: {type: object}
      implementation:
        type: mock
        steps:
          - ask:
              reply:
                elicitation:
                  message: Which day?
                  requestedSchema: {type: object, properties: {day: {type: string}}, required: [day]}
        response: "booked {{ answers.reply.content.day }}"
"""
ANSWERS: list[dict[str, Any]] = [
    {"to": "look", "turns": [{"calls": [{"tool": "look", "arguments": {}}]}, {"text": "It is there."}]},
    {
        "to": "remove",
        "turns": [{"calls": [{"tool": "remove", "arguments": {"place": "x"}}]}, {"text": "So be it."}],
    },
    {"to": "wait", "turns": [{"calls": [{"tool": "wait", "arguments": {}}]}, {"text": "Waited."}]},
    {"to": "book", "turns": [{"calls": [{"tool": "book", "arguments": {}}]}, {"text": "Booked."}]},
    {"to": "count", "turns": [{"pieces": ["one ", "two ", "three"]}]},
    {"turns": [{"text": "Hello."}]},
]


def written(folder: Path, **more: Any) -> Path:
    """The config of these tools, and the script, in ``folder``; ``more`` are further keys of the config."""
    (folder / "script.yaml").write_text(yaml.safe_dump({"answers": ANSWERS}))
    path = folder / "toolspan.yaml"
    path.write_text(TOOLS + (yaml.safe_dump(more) if more else ""))
    return path


def model_in(folder: Path) -> str:
    """The model that plays the script in ``folder``."""
    return f"scripted/{folder / 'script.yaml'}"


class _Used:
    def __init__(self, session: Session, asker: RoutedAsker) -> None:
        self.session, self.asker = session, asker


@asynccontextmanager
async def conversations(
    config: Path, limits: ConversationLimits | None = None
) -> AsyncGenerator[Conversations]:
    """The conversations of an app with ``config``, without its HTTP."""
    choice = ConfigChoice((str(config),))
    async with opened(choice, TERMINAL, samples=True) as session, RoutedAsker(session) as asker:

        @asynccontextmanager
        async def using(principal: str) -> AsyncGenerator[_Used]:
            yield _Used(session.acting_for(principal), asker)

        engine = Conversations(using, limits)
        async with engine.running():
            yield engine


async def begun(own: OwnConversations, config: Path, **details: Any) -> str:
    """The id of a new conversation with the scripted model."""
    return str((await own.create(Details(model=model_in(config.parent), **details)))["id"])


async def until(
    own: OwnConversations, talk: str, name: str, last: int | None = None
) -> list[ConversationEvent]:
    """The events after ``last``, up to the first of that ``name``."""
    found: list[ConversationEvent] = []
    with anyio.fail_after(60):
        events = await own.events(talk, last)
        async for event in events:
            found.append(event)
            if event.name == name:
                break
        await events.aclose()
    return found
