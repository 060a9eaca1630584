"""The toolbox: the tools of all connected MCP servers, as one."""

from __future__ import annotations

from .contents import Contents, Prompt
from .servers import McpJson, foreign_servers, own_server, servers_of
from .toolbox import Toolbox

__all__ = ["Contents", "McpJson", "Prompt", "Toolbox", "foreign_servers", "own_server", "servers_of"]
