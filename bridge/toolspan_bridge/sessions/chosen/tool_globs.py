"""Which tools are used, by globs of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from toolspan_server.engines.upstreams import ListedTool

from ...approvals.patterns import names_tool
from ...messages import ToolSpec

__all__ = ["ALL_TOOLS", "ToolGlobs"]

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ToolGlobs:
    """``wanted`` (any, when empty) and not ``unwanted``: each a glob of ``tool`` or ``server/tool``. What the
    bridge performs itself is only ever left out by ``unwanted``."""

    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    def among(self, tools: Sequence[ToolSpec]) -> Callable[[str, ListedTool], bool]:
        """Whether a tool of a server is used, where the servers have ``tools``."""
        listed = {tool.key for tool in tools}

        def accepts(server: str, tool: ListedTool) -> bool:
            if names_tool(self.unwanted, server, tool.name):
                return False
            chosen = not self.wanted or names_tool(self.wanted, server, tool.name)
            return chosen or (server, tool.name) not in listed

        return accepts

    def idle(self, tools: Sequence[ToolSpec]) -> Iterator[str]:
        """What is to be said of globs that are of none of ``tools``."""
        shown = ", ".join(f"{tool.server}/{tool.name}" for tool in tools[:_SHOWN]) or "none"
        for option, globs in (("--tool", self.wanted), ("--no-tool", self.unwanted)):
            for glob in globs:
                if not any(names_tool((glob,), tool.server, tool.name) for tool in tools):
                    yield f"{option} {glob} is the name of no tool (there are: {shown})"


ALL_TOOLS = ToolGlobs()
