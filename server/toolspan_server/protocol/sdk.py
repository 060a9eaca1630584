"""The executor as an ``mcp`` server: handlers that give plain data, everything else the SDK's.

Importing this module imports ``mcp``, which takes half a second: import it where serving begins.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, PaginatedRequestParams

from .._version import __version__
from ..context import Context
from ..executor import Executor
from . import jsonrpc, wire
from ._calls import Busy, Calls

_Context = ServerRequestContext[Any, Any]


def build_server(
    executor: Executor, calls: Calls, *, name: str, instructions: str | None = None
) -> Server[Any]:
    """The server of ``executor``'s tools, for every protocol revision that the SDK speaks.

    ``calls`` runs the calls, within their limits.
    """
    registry = executor.registry

    async def list_tools(context: _Context, _params: PaginatedRequestParams) -> dict[str, Any]:
        try:
            wire.check_cursor(context.params)
        except wire.ProtocolFault as fault:
            raise MCPError(code=fault.code, message=fault.message) from None
        return wire.render_tools(registry, context.protocol_version)

    async def call_tool(context: _Context, _params: CallToolRequestParams) -> dict[str, Any]:
        try:
            call = wire.read_call(context.params)
            if registry.get(call.name) is None:
                raise wire.unknown_tool(call.name)
        except wire.ProtocolFault as fault:
            raise MCPError(code=fault.code, message=fault.message) from None
        execute = partial(executor.execute, call.name, call.arguments, Context(meta=call.meta))
        try:
            result = await calls.run(execute)
        except Busy as busy:
            raise MCPError(code=jsonrpc.INTERNAL_ERROR, message=str(busy)) from None
        return wire.render_result(result, context.protocol_version)

    def input_schema(tool: str) -> dict[str, Any] | None:
        found = registry.get(tool)
        return None if found is None else found.config.parameters

    server: Server[Any] = Server(
        name, version=__version__, instructions=instructions, get_tool_input_schema=input_schema
    )
    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    server.middleware.clear()  # only OpenTelemetry's, paid for on every message
    return server
