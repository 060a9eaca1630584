"""Tools that the bridge performs itself, offered to the model beside those of the servers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolspan_server.engines.upstreams import ListedTool, UpstreamResult

from ..messages import Mark, ToolOutcome, ToolSpec
from .outcomes import failed, outcome
from .reports import Report, unreported

__all__ = ["LOCAL_SERVER", "LocalCall", "LocalFailure", "LocalTool", "local_outcome", "local_spec"]

LOCAL_SERVER = "toolspan"
"""The name of the server under which models and people see the bridge's own tools."""


class LocalFailure(Exception):
    """A local call failed: ``error``, its ``code``, and what the model can do."""

    def __init__(self, error: str, code: str, user_action: str) -> None:
        super().__init__(error)
        self.code = code
        self.user_action = user_action


@dataclass(frozen=True, slots=True)
class LocalCall:
    """One call of a local tool. ``arguments`` fit the tool's schema; ``conversation`` is the id of the one
    that it belongs to; ``report`` takes what happens meanwhile. ``marks`` are those of the conversation so
    far; a tool whose result brings more adds them."""

    id: str
    arguments: Mapping[str, Any]
    conversation: str = ""
    report: Report = unreported
    marks: list[Mark] = field(default_factory=list[Mark])


class LocalTool(Protocol):
    """A tool that the bridge performs, for itself or in place of a server. Where a server of our own has one
    of that name, this one is offered in its place."""

    @property
    def definition(self) -> ListedTool:
        """Name, description, schema and hints, as a server would list them."""
        ...

    async def call(self, call: LocalCall) -> Any:
        """The result, as JSON, or as a server gives it. Raises ``LocalFailure``; anything else that it raises
        is a defect."""
        ...


def local_spec(tool: LocalTool) -> ToolSpec:
    """``tool`` as models see it."""
    definition = tool.definition
    return ToolSpec(LOCAL_SERVER, definition.name, definition.description, definition.schema)


async def local_outcome(tool: LocalTool, call: LocalCall) -> ToolOutcome:
    """The outcome of ``call``, measured."""
    name, started = tool.definition.name, time.perf_counter()
    try:
        result = await tool.call(call)
    except LocalFailure as failure:
        took = _elapsed_ms(started)
        return failed(call.id, name, str(failure), failure.code, failure.user_action, took)
    took = _elapsed_ms(started)
    if isinstance(result, UpstreamResult):
        return outcome(call.id, name, result, took)
    whole = {"success": True, "result": result, "tool_name": name, "execution_time_ms": took}
    return ToolOutcome(call.id, name, whole)


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
