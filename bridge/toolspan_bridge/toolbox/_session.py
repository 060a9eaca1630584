"""One MCP session: negotiated, its tools listed, its calls made. All of the SDK is behind this module."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, cast

import anyio
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
)
from pydantic import ValidationError
from typing_extensions import override

from ..messages import ToolSpec
from ._http import http_streams, sse_streams
from ._stdio import Child, stdio_streams
from .servers import ServerSpec

MAX_PAGES = 100
MAX_TOOLS = 1_000
MAX_DESCRIPTION_BYTES = 4_096
_PROBE_SECONDS = 4.0

for _name in ("mcp", "client", "httpx2"):
    # Without a handler of the user's, the SDK's tracebacks would reach the terminal.
    logging.getLogger(_name).addHandler(logging.NullHandler())


@dataclass(slots=True)
class Listing:
    """A server's tools, and what was left out or cut, in words."""

    tools: list[ToolSpec] = field(default_factory=list[ToolSpec])
    warnings: list[str] = field(default_factory=list[str])


class Channel(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, which also tells when the other side is gone, and from whose tool lists malformed
    tools are taken out, so that one of them does not lose the rest."""

    def __init__(self, read: Any, write: Any) -> None:
        super().__init__(read, write)
        self.gone = anyio.Event()
        self.left_out: list[str] = []

    @override
    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self.gone.set()

    @override
    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: str | int | None = None,
    ) -> dict[str, Any]:
        if method == "server/discover":
            opts = {**(opts or {}), "timeout": _PROBE_SECONDS}
        result = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method == "tools/list" and isinstance(result.get("tools"), list):
            result = {**result, "tools": self._well_formed(cast("list[Any]", result["tools"]))}
        return result

    def _well_formed(self, tools: list[Any]) -> list[dict[str, Any]]:
        kept: list[dict[str, Any]] = []
        for position, tool in enumerate(tools):
            if fault := _fault(tool):
                name = cast("Any", tool).get("name") if isinstance(tool, dict) else None
                self.left_out.append(f"tool {name!r} (no. {position + 1}) left out: {fault}")
            else:
                needed = {key: tool[key] for key in ("name", "inputSchema")}
                described = isinstance(tool.get("description"), str)
                kept.append({**needed, "description": tool["description"]} if described else needed)
        return kept


@asynccontextmanager
async def open_session(spec: ServerSpec, child: Child) -> AsyncGenerator[tuple[ClientSession, Channel]]:
    """A negotiated session with the server; its transport ends with the block."""
    async with _streams(spec, child) as (read, write):
        channel = Channel(read, write)
        info = Implementation(name="toolspan", version=version("toolspan"))
        async with ClientSession(dispatcher=channel, client_info=info) as session:
            await _negotiate(session)
            yield session, channel


async def list_tools(spec: ServerSpec, session: ClientSession, channel: Channel) -> Listing:
    """Every tool of the server, within the limits on pages and tools; raises ``MCPError``."""
    listing = Listing()
    names: set[str] = set()
    seen: set[str | None] = set()
    cursor: str | None = None
    while cursor not in seen and len(seen) < MAX_PAGES:
        seen.add(cursor)
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        for tool in page.tools:
            if tool.name in names:
                listing.warnings.append(f"tool {tool.name!r} is listed twice: the first is kept")
                continue
            names.add(tool.name)
            description = _cut(tool.description or "", tool.name, listing.warnings)
            listing.tools.append(ToolSpec(spec.name, tool.name, description, tool.input_schema))
        cursor = page.next_cursor
        if not cursor or len(listing.tools) > MAX_TOOLS:
            break
    else:
        again = "its tool list comes round again to a page that it already gave: stopped there"
        endless = f"more than {MAX_PAGES} pages of tools: the rest was left out"
        listing.warnings.append(again if cursor in seen else endless)
    if len(listing.tools) > MAX_TOOLS:
        del listing.tools[MAX_TOOLS:]
        listing.warnings.append(f"more than {MAX_TOOLS} tools: the rest was left out")
    listing.warnings += channel.left_out
    return listing


async def call_tool(session: ClientSession, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
    """The server's answer to one call. Raises ``MCPError``, or ``ValidationError`` if it is none."""
    params = CallToolRequestParams(name=name, arguments=dict(arguments))
    return await session.send_request(CallToolRequest(params=params), CallToolResult)


def _streams(spec: ServerSpec, child: Child) -> AbstractAsyncContextManager[Any]:
    if spec.kind == "stdio":
        return stdio_streams(spec, child)
    return http_streams(spec, child) if spec.kind == "http" else sse_streams(spec, child)


async def _negotiate(session: ClientSession) -> None:
    """The newest revision that both sides speak: 2026-07-28 by discovery, the older ones by handshake."""
    try:
        await session.discover()
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            raise
        await session.initialize()
    except (ValidationError, RuntimeError):
        await session.initialize()


def _fault(tool: Any) -> str:
    if not isinstance(tool, dict):
        return "not an object"
    entry = cast("dict[str, Any]", tool)
    name, schema = entry.get("name"), entry.get("inputSchema")
    if not isinstance(name, str) or not 0 < len(name) <= 256:
        return "its name is no text of 1 to 256 characters"
    if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object":
        return 'its inputSchema is no schema with "type": "object"'
    return ""


def _cut(description: str, name: str, warnings: list[str]) -> str:
    encoded = description.encode()
    if len(encoded) <= MAX_DESCRIPTION_BYTES:
        return description
    warnings.append(f"tool {name!r}: its description was cut to {MAX_DESCRIPTION_BYTES} bytes")
    return encoded[:MAX_DESCRIPTION_BYTES].decode("utf-8", "ignore") + " […]"
