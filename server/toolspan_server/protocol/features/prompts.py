"""``prompts/list`` and ``prompts/get``. Importing this module imports ``mcp``."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import METHOD_NOT_FOUND, GetPromptRequestParams, PaginatedRequestParams

from ...calls.client import Client
from ...errors import RequestRefused
from ...live.views import ServerView
from ...prompts.live import Prompts
from ..clients import (
    RequestContext,
    answered,
    principal,
    refusals,
)
from ..messages.pagination import paged
from ..messages.wire import MODERN
from ..state.running_calls import Calls


def register(server: Server[Any], view: ServerView, calls: Calls) -> None:
    """Let ``server`` list ``view``'s prompts and give their messages; ``calls`` counts what waits."""

    async def list_prompts(context: RequestContext, _params: PaginatedRequestParams) -> dict[str, Any]:
        with refusals():
            listed = _prompts(view, context).listed
            cursor = (context.params or {}).get("cursor")
            return paged(view, "prompts", listed, cursor, context.protocol_version)

    async def get_prompt(context: RequestContext, params: GetPromptRequestParams) -> dict[str, Any]:
        async def work(client: Client) -> dict[str, Any]:
            found = await _prompts(view, context).get(params.name, params.arguments or {}, client)
            return {**found, "resultType": "complete"} if context.protocol_version in MODERN else found

        return await answered(
            context, work, wait_for_client=partial(calls.wait_without_slot, of=principal(context))
        )

    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)


def _prompts(view: ServerView, context: RequestContext) -> Prompts:
    if view.prompts is None:
        raise RequestRefused(METHOD_NOT_FOUND, "Method not found", context.method)
    return view.prompts
