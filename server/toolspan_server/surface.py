"""What an endpoint shows of the server: all of it, or a toolset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .context import Context
from .registry import Tool
from .results import ToolResult
from .runtime import Runtime


class Surface:
    """The server as the clients of one endpoint see it. It is asked anew each time: a config may change."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    @property
    def version(self) -> int:
        """Another number whenever what is listed may be other than before."""
        return self.runtime.changes.version

    @property
    def name(self) -> str:
        """How the server introduces itself."""
        return self.runtime.config.name

    @property
    def instructions(self) -> str | None:
        """What the server tells its clients about itself."""
        return self.runtime.config.instructions

    @property
    def tools(self) -> list[Tool]:
        """The tools, in the order that they are listed in."""
        return list(self.runtime.registry)

    def tool(self, name: str) -> Tool | None:
        """The tool ``name``, if it is shown here."""
        return self.runtime.registry.get(name)

    async def execute(
        self, name: str, arguments: Mapping[str, Any] | None, context: Context | None
    ) -> ToolResult:
        """Run a tool; see ``Executor.execute``."""
        return await self.runtime.execute(name, arguments, context)
