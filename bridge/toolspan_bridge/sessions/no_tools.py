"""Why a session has no tools, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolspan_server.config import DEFAULT_FILES, Config
from toolspan_server.engines.upstreams import ServerSpec

from ..errors import BridgeError, NoToolsError, UsageError
from ..toolbox import Toolbox
from .chosen.config import ConfigChoice


def why_no_tools(
    config: Config, choice: ConfigChoice, servers: Sequence[ServerSpec], connected: Toolbox
) -> BridgeError:
    """The error of a verb that needs tools and has none of the ``servers``, which are ``connected``.

    ``UsageError`` where nothing was asked for tools, or the options leave none; else ``NoToolsError``.
    """
    if connected.tools:
        options = [
            "--locked" if choice.locked else "",
            "--tool" if choice.tools.wanted else "",
            "--no-tool" if choice.tools.unwanted else "",
        ]
        left = " and ".join(filter(None, options))
        return UsageError(f"{left} left none of the {len(connected.tools)} tools that the servers offer")
    if servers:
        names = ", ".join(repr(spec.name) for spec in servers)
        said = "; what failed is said above" if connected.failures or connected.warnings else ""
        who = f"the server {names}" if len(servers) == 1 else f"of the servers {names} none"
        return NoToolsError(f"{who} offers {'no' if len(servers) == 1 else 'a'} tool{said}")
    return UsageError(_nothing_configured(config))


def _nothing_configured(config: Config) -> str:
    if not config.files:
        return (
            f"no config file is in {Path.cwd()} (looked for {', '.join(DEFAULT_FILES)}): name one with "
            "--config FILE or a server with --server, or write one with `toolspan init`"
        )
    files = ", ".join(str(path) for path in config.files)
    if not config.tools.enabled and (config.tools.registry or config.tools.sources):
        return f"{files}: tools.enabled is false (set it to true)"
    if config.mcp_servers:
        return f"{files}: all servers of mcpServers are disabled, and it has no other tools"
    return f"{files} has none (add some under tools.registry or tools.sources, or servers under mcpServers)"
