"""``prompts/list`` and ``prompts/get``. Importing this module imports ``mcp``."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import GetPromptRequestParams, PaginatedRequestParams

from ...calls.client import Client
from ...live.views import ServerView
from ..clients import (
    RequestContext,
    answered,
    offered,
    origin,
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
            listed = await offered(view.prompts, context).entries()
            cursor = (context.params or {}).get("cursor")
            return paged(view, "prompts", listed, cursor, context.protocol_version)

    async def get_prompt(context: RequestContext, params: GetPromptRequestParams) -> dict[str, Any]:
        async def work(client: Client) -> dict[str, Any]:
            found = await offered(view.prompts, context).get(
                params.name, params.arguments or {}, client, origin(context)
            )
            return {**found, "resultType": "complete"} if context.protocol_version in MODERN else found

        return await answered(
            context, work, wait_for_client=partial(calls.wait_without_slot, of=principal(context))
        )

    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)
