"""``resources/list``, ``resources/templates/list``, ``resources/read``. Importing this imports ``mcp``."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import PaginatedRequestParams, ReadResourceRequestParams

from ...calls.caller import Origin
from ...errors import RequestRefused
from ...live.views import ServerView
from ...resources.errors import ResourceNotFound, ResourceUnreadable
from ..clients import RequestContext, offered, origin, refusals
from ..messages import jsonrpc, wire
from ..messages.pagination import cache_hints, paged

_NOT_FOUND = -32002


def register(server: Server[Any], view: ServerView) -> None:
    """Let ``server`` list ``view``'s resources and give their content."""

    async def list_resources(context: RequestContext, _params: PaginatedRequestParams) -> dict[str, Any]:
        with refusals():
            listed = await offered(view.resources, context).listed()
            return paged(view, "resources", listed, _cursor(context), context.protocol_version)

    async def list_templates(context: RequestContext, _params: PaginatedRequestParams) -> dict[str, Any]:
        with refusals():
            listed = await offered(view.resources, context).listed_templates()
            return paged(view, "resourceTemplates", listed, _cursor(context), context.protocol_version)

    async def read(context: RequestContext, params: ReadResourceRequestParams) -> dict[str, Any]:
        with refusals():
            resources = offered(view.resources, context)
            contents = await _contents(resources, str(params.uri), origin(context), context.protocol_version)
            return {"contents": contents, **cache_hints(view, context.protocol_version)}

    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read)


async def _contents(resources: Any, uri: str, origin: Origin, protocol_version: str) -> list[dict[str, Any]]:
    """Its contents. A resource that is not there has had the code of invalid parameters since 2026-07-28."""
    try:
        contents: list[dict[str, Any]] = await resources.contents(uri, origin)
    except ResourceNotFound as missing:
        code = wire.INVALID_PARAMS if protocol_version in wire.MODERN else _NOT_FOUND
        raise RequestRefused(code, str(missing), {"uri": missing.uri}) from None
    except ResourceUnreadable as fault:
        raise RequestRefused(jsonrpc.INTERNAL_ERROR, str(fault), {"uri": fault.uri}) from None
    return contents


def _cursor(context: RequestContext) -> Any:
    return (context.params or {}).get("cursor")
