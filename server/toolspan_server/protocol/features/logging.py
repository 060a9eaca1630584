"""``logging/setLevel``, of the eras with a handshake. Importing this module imports ``mcp``."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, SetLevelRequestParams

from ...live.views import ServerView
from ..clients import RequestContext
from ..messages.capabilities import capabilities
from ..state.connection_state import ConnectionState


def register(server: Server[Any], view: ServerView) -> None:
    """Let a session say from which level on it wants log messages, where a tool may send some."""

    async def set_level(context: RequestContext, params: SetLevelRequestParams) -> dict[str, Any]:
        if "logging" not in capabilities(view, modern=False):
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=context.method)
        connection_state: ConnectionState = context.lifespan_context
        if connection_state.lasting:
            connection_state.level = params.level
        return {}

    server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
