"""The executor as an ``mcp`` server: handlers that give plain data, everything else the SDK's.

Importing this module imports ``mcp``, which takes half a second: import it where serving begins.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, PaginatedRequestParams

from ..context import Context
from ..executor import Executor
from . import wire
from ._calls import Calls

_Context = ServerRequestContext[Any, Any]


def build_server(
    executor: Executor, calls: Calls, *, name: str, instructions: str | None = None
) -> Server[Any]:
    """The server of ``executor``'s tools, for every protocol revision that the SDK speaks.

    ``calls`` counts the calls that run.
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
        with calls.running():
            result = await executor.execute(call.name, call.arguments, Context(meta=call.meta))
        return wire.render_result(result, context.protocol_version)

    def input_schema(tool: str) -> dict[str, Any] | None:
        found = registry.get(tool)
        return None if found is None else found.config.parameters

    server: Server[Any] = Server(
        name, version=_version(), instructions=instructions, get_tool_input_schema=input_schema
    )
    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    server.middleware.clear()  # only OpenTelemetry's, paid for on every message
    return server


def _version() -> str:
    try:
        return version("toolspan")
    except PackageNotFoundError:
        return "0"
