"""Servers in memory, behind the real toolbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import override

from toolspan_bridge.toolbox.connection import ToolConnection
from toolspan_server.engines.upstreams import ListedTool, ServerSpec, UpstreamResult

from ._tool import Tool

Made = tuple[str, str, dict[str, Any]]
"""A call as it came: server, tool, arguments."""


def canned(tools: Iterable[Tool], made: list[Made] | None = None) -> list[ToolConnection]:
    """The servers of ``tools``, which write down the calls that come into ``made``."""
    servers: dict[str, dict[str, Tool]] = {}
    for tool in tools:
        servers.setdefault(tool.server, {})[tool.name] = tool
    return [Canned(name, theirs, [] if made is None else made) for name, theirs in servers.items()]


class Canned(ToolConnection):
    """A server whose tools answer what they were given to answer. ``made`` are the calls that came."""

    def __init__(self, name: str, tools: Mapping[str, Tool], made: list[Made]) -> None:
        super().__init__(ServerSpec(name), 1.0)
        self._canned = tools
        self._made = made
        self.tools = tuple(map(_listed, tools.values()))

    @override
    async def call(self, name: str, arguments: Mapping[str, Any], **options: Any) -> UpstreamResult:
        self._made.append((self.spec.name, name, dict(arguments)))
        answer = self._canned[name].answer
        if isinstance(answer, Exception):
            raise answer
        return answer


def _listed(tool: Tool) -> ListedTool:
    details: dict[str, Any] = {"_meta": {"dev.toolspan/strict": True}} if tool.strict else {}
    if tool.output_schema is not None:
        details["outputSchema"] = dict(tool.output_schema)
    details["annotations"] = {"readOnlyHint": True}
    return ListedTool(tool.name, tool.description, tool.schema, details)
