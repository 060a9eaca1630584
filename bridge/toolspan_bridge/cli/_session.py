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
from ..toolbox.toolbox import CONNECT_TIMEOUT_SECONDS
from ._options import read_config
from ._output import note
from ._target import CONNECT_SECONDS, server_of


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
async def opened(
    paths: tuple[str, ...], *, skip_invalid: bool = False, server: str | None = None
) -> AsyncGenerator[Session]:
    """Connect the servers of the config that the options name, or the one ``server`` alone (a command or a
    URL); say on stderr which did not answer.

    Raises ``ConfigError``, ``UsageError``, and ``UnreachableError`` when no server answered.
    """
    if server is not None:
        config, servers, patience = Config(), [server_of(server)], CONNECT_SECONDS
    else:
        config = read_config(paths, skip_invalid=skip_invalid, needed=False)
        servers, patience = servers_of(config, skip_invalid=skip_invalid), CONNECT_TIMEOUT_SECONDS
    async with Toolbox.connect(servers, connect_timeout=patience) as toolbox:
        names = [tool.name for tool in toolbox.tools]
        for text in (*map(str, toolbox.failures), *toolbox.warnings, *unknown_tools(config, names)):
            note(text)
        if servers and len(toolbox.failures) == len(servers):
            raise UnreachableError("no MCP server could be reached; what each said is above")
        yield Session(config, toolbox)


def _known(tools: tuple[ToolSpec, ...]) -> str:
    return "known: " + ", ".join(tool.name for tool in tools[:20]) if tools else "no server offers any tool"
