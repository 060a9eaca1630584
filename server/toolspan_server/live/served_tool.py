"""A tool as one view serves it: found once by its name, and called without another look-up."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, Protocol

from ..calls.caller import Origin
from ..calls.context import Context
from ..calls.results import ToolResult
from ..tools.registry import Tool


class Runs(Protocol):
    """What runs a tool that a view shows."""

    def __call__(
        self,
        served: ServedTool,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None,
    ) -> Coroutine[Any, Any, ToolResult]: ...


class ServedTool:
    """``tool``, which a view shows. Only views make one: there is no other way from a client to a tool.

    ``revision`` is that of the registry that it was found in.
    """

    __slots__ = ("_run", "revision", "tool")

    def __init__(self, tool: Tool, revision: int, run: Runs) -> None:
        self.tool = tool
        self.revision = revision
        self._run = run

    def run(
        self,
        arguments: Mapping[str, Any] | None,
        context: Context | Origin,
        meta: Mapping[str, Any] | None = None,
    ) -> Coroutine[Any, Any, ToolResult]:
        """Call it; see ``Executor.execute``. One that the view no longer shows is not found then."""
        return self._run(self, arguments, context, meta)
