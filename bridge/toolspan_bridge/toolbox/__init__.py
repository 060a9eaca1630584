"""The toolbox: the tools of all connected MCP servers, as one."""

from __future__ import annotations

from .connection import ServerFailure
from .servers import ServerSpec, servers_of
from .toolbox import Toolbox

__all__ = ["ServerFailure", "ServerSpec", "Toolbox", "servers_of"]
