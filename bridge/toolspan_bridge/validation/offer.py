"""What a scenario brings of its own: tools that stand for real ones, earlier messages, a system prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolspan_server.engines.upstreams import ListedTool

from ..messages import Message
from ..toolbox.local import LocalCall


@dataclass(frozen=True, slots=True)
class StandIn:
    """A tool that gives the same ``result`` to every call."""

    name: str
    description: str
    schema: Mapping[str, Any]
    result: Any

    @property
    def definition(self) -> ListedTool:
        """Its definition, as a server would list it."""
        return ListedTool(self.name, self.description, self.schema)

    async def call(self, call: LocalCall) -> Any:
        """The result, whatever the arguments."""
        del call
        return self.result


@dataclass(frozen=True, slots=True)
class Offer:
    """What is offered in place of a toolbox: ``tools`` alone, in ``max_iterations`` turns, after the messages
    ``before``; an empty ``system`` is the usual prompt."""

    tools: tuple[StandIn, ...]
    before: tuple[Message, ...] = ()
    system: str = ""
    max_iterations: int = 1
