"""A config's servers, connected: what every verb that needs tools starts with."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from toolspan_server.config import Config

from ..errors import UnreachableError, UsageError
from ..messages import ToolSpec
from ..routes import unknown_tools
from ..toolbox import Toolbox, servers_of
from ._options import read_config
from ._output import note


@dataclass(frozen=True, slots=True)
class Session:
    """A config and the toolbox of its servers."""

    config: Config
    toolbox: Toolbox

    def tool(self, name: str) -> ToolSpec:
        """The tool ``name``, or ``server/name`` where several servers have one. Raises ``UsageError``."""
        server, _, bare = name.rpartition("/")
        found = [t for t in self.toolbox.tools if t.name == name or (t.server, t.name) == (server, bare)]
        if len(found) == 1:
            return found[0]
        if found:
            choices = ", ".join(f"{tool.server}/{tool.name}" for tool in found)
            raise UsageError(f"several servers have a tool {name!r}: write one of {choices}")
        raise UsageError(f"Tool {name!r} not found ({_known(self.toolbox.tools)})")


@asynccontextmanager
async def opened(paths: tuple[str, ...], *, skip_invalid: bool = False) -> AsyncGenerator[Session]:
    """Connect the servers of the config that the options name; say on stderr which did not answer.

    Raises ``ConfigError``, ``UsageError``, and ``UnreachableError`` when no server answered.
    """
    config = read_config(paths, skip_invalid=skip_invalid, needed=False)
    servers = servers_of(config, skip_invalid=skip_invalid)
    async with Toolbox.connect(servers) as toolbox:
        names = [tool.name for tool in toolbox.tools]
        for text in (*map(str, toolbox.failures), *toolbox.warnings, *unknown_tools(config, names)):
            note(text)
        if servers and len(toolbox.failures) == len(servers):
            raise UnreachableError("no MCP server could be reached; what each said is above")
        yield Session(config, toolbox)


def _known(tools: tuple[ToolSpec, ...]) -> str:
    return "known: " + ", ".join(tool.name for tool in tools[:20]) if tools else "no server offers any tool"
