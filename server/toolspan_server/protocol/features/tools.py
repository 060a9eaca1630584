"""``tools/list`` and ``tools/call``. Importing this module imports ``mcp``."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, PaginatedRequestParams

from ...context import Context
from ...errors import RequestRefused
from ...surface import Surface
from .. import jsonrpc, wire
from .._calls import Busy, Calls

_Context = ServerRequestContext[Any, Any]


def register(server: Server[Any], surface: Surface, calls: Calls) -> None:
    """Let ``server`` list ``surface``'s tools and call them, by way of ``calls``."""

    async def list_tools(context: _Context, _params: PaginatedRequestParams) -> dict[str, Any]:
        try:
            wire.check_cursor(context.params)
        except wire.ProtocolFault as fault:
            raise MCPError(code=fault.code, message=fault.message) from None
        return wire.render_tools(surface.tools, context.protocol_version)

    async def call_tool(context: _Context, _params: CallToolRequestParams) -> dict[str, Any]:
        try:
            call = wire.read_call(context.params)
            if surface.tool(call.name) is None:
                raise wire.unknown_tool(call.name)
        except wire.ProtocolFault as fault:
            raise MCPError(code=fault.code, message=fault.message) from None
        execute = partial(surface.execute, call.name, call.arguments, Context(meta=call.meta))
        try:
            result = await calls.run(execute)
        except Busy as busy:
            raise MCPError(code=jsonrpc.INTERNAL_ERROR, message=str(busy)) from None
        except RequestRefused as refused:
            raise MCPError(code=refused.code, message=refused.message, data=refused.data) from None
        return wire.render_result(result, context.protocol_version)

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
