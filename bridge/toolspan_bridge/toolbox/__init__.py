"""The toolbox: the tools of all connected MCP servers, as one."""

from __future__ import annotations

from .servers import foreign, own_server, servers_of
from .toolbox import Toolbox

__all__ = ["Toolbox", "foreign", "own_server", "servers_of"]
