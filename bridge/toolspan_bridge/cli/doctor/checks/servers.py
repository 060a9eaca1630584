"""The MCP servers of the config and of .mcp.json: are their programs there, and do they answer?"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from toolspan_server.engines.upstreams import ServerSpec

from ....principals import LOCAL_USER
from ....toolbox import McpJson, Toolbox, foreign_servers, servers_of
from ..finding import Finding, ok, problem, warning
from ..surroundings import Surroundings

ORDER = 40
_NODE = frozenset(("node", "npm", "npx", "pnpm", "bunx"))


async def check(around: Surroundings) -> list[Finding]:
    """Each server: its tools, or why there are none."""
    beside = None if around.choice.is_named else McpJson.read(Path.cwd())
    servers = [each for each in servers_of(around.config, beside=beside) if not each.own]
    missing = [finding for server in servers for finding in _program(server)]
    withheld = around.withholds("mcpServers", "mcp_servers", "servers")
    if withheld or (beside is not None and not around.may_use(foreign_servers(beside))):
        return [*missing, warning("the servers were not started: nobody trusts this folder", "add --trust")]
    if not servers:
        return []
    return [*missing, *await _answers(servers)]


def _program(server: ServerSpec) -> list[Finding]:
    if not server.command or shutil.which(server.command[0]):
        return []
    program = server.command[0]
    node = Path(program).stem in _NODE
    todo = "install Node.js (https://nodejs.org)" if node else f"install {program}, or correct the command"
    return [problem(f"server {server.name!r}: the program {program} is not on PATH", todo, 4)]


async def _answers(servers: Sequence[ServerSpec]) -> list[Finding]:
    found: list[Finding] = []
    async with Toolbox.connect(servers, principal=LOCAL_USER) as toolbox:
        failed = {failure.server: failure for failure in toolbox.failures}
        for server in servers:
            failure = failed.get(server.name)
            if failure is None:
                count = sum(tool.server == server.name for tool in toolbox.tools)
                found.append(ok(f"server {server.name!r} answers, with {count} tools"))
            elif failure.needs_sign_in:
                todo = f"toolspan servers login {server.name}"
                found.append(problem(f"server {server.name!r} wants a sign-in", todo, 3))
            else:
                found.append(problem(str(failure), "correct its entry in mcpServers, or what it says", 4))
    return found
