"""A session: a config's connected servers, for every verb that needs tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from toolspan_server.config import Config
from toolspan_server.engines.upstreams import ServerSpec

from ...errors import UnreachableError, UsageError
from ...messages import ToolSpec
from ...routes import unknown_tools
from ...toolbox import Toolbox, foreign, servers_of
from ..inputs.options import ConfigChoice, read_config
from ..inputs.target import CONNECT_SECONDS, server_of
from ..terminal.output import print_note


@dataclass(frozen=True, slots=True)
class Session:
    """A config, the toolbox of its servers, and the notes on the config."""

    config: Config
    toolbox: Toolbox
    choice: ConfigChoice

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
async def opened(choice: ConfigChoice, *, server: str | None = None) -> AsyncGenerator[Session]:
    """Connect the servers of the config that the options name, or the one ``server`` alone (a command or a
    URL); say on stderr which did not answer.

    Raises ``ConfigError``, ``UsageError``, ``ConsentError`` when they lead to what nobody allowed, and
    ``UnreachableError`` when no server answered.
    """
    if server is not None:
        config, servers, patience = Config(), [server_of(server)], CONNECT_SECONDS
    else:
        (config, servers), patience = _servers(choice), None
    async with Toolbox.connect(servers, connect_timeout=patience) as toolbox:
        names = [tool.name for tool in toolbox.tools]
        for text in (*map(str, toolbox.failures), *toolbox.warnings, *unknown_tools(config, names)):
            print_note(text)
        if servers and len(toolbox.failures) == len(servers):
            raise UnreachableError("no MCP server could be reached; the errors are above")
        yield Session(config, toolbox, choice)


def _servers(choice: ConfigChoice) -> tuple[Config, list[ServerSpec]]:
    config = read_config(choice, needed=False)
    beside = None if choice.is_named else Path.cwd()
    choice.allow(foreign(config, directory=beside))
    servers = servers_of(
        config, skip_invalid=choice.skip_invalid, directory=beside, workspace=choice.workspace
    )
    return config, servers


def _known(tools: tuple[ToolSpec, ...]) -> str:
    return "known: " + ", ".join(tool.name for tool in tools[:20]) if tools else "no server offers any tool"
