"""Tools that the bridge performs itself, written as functions in a test, and what a run of them comes to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolspan_bridge import Answer, Conversation, End, Event, Provider, Question, Toolbox, run
from toolspan_bridge.messages import ToolOutcome, ToolResults
from toolspan_bridge.toolbox.local import LocalCall
from toolspan_server.engines.upstreams import ListedTool

Perform = Callable[[LocalCall], Awaitable[Any]]


class Performed:
    """The tool ``name``; each call is what ``perform`` gives. ``calls`` are those that were made."""

    def __init__(self, name: str, perform: Perform | None = None, **more: Any) -> None:
        schema = more.pop("schema", {"type": "object"})
        self.definition = ListedTool(name, f"The tool {name}.", schema, {"annotations": more})
        self.calls: list[dict[str, Any]] = []
        self.perform = perform

    async def call(self, call: LocalCall) -> Any:
        self.calls.append(dict(call.arguments))
        return {"seen": dict(call.arguments)} if self.perform is None else await self.perform(call)


def box(*tools: Performed) -> Toolbox:
    """A toolbox of ``tools`` alone."""
    return Toolbox(()).with_local(tools)


def turn(*calls: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A scripted turn that calls tools."""
    return {"calls": [{"tool": tool, "arguments": arguments} for tool, arguments in calls], **more}


async def events_of(
    question: Question, provider: Provider, tools: Toolbox, talk: Conversation | None = None, **more: Any
) -> list[Event]:
    """Every event of the question."""
    return [event async for event in run(question, provider, tools, talk or Conversation(), **more)]


def answered(events: list[Event]) -> Answer:
    """The answer at the end of ``events``."""
    assert isinstance(events[-1], End)
    return events[-1].answer


def outcomes(talk: Conversation) -> list[ToolOutcome]:
    """Every outcome in the conversation, in order."""
    return [
        each for message in talk.messages if isinstance(message, ToolResults) for each in message.outcomes
    ]
