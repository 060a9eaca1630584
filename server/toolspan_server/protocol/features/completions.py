"""``completion/complete``. Importing this module imports ``mcp``."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import METHOD_NOT_FOUND, CompleteRequestParams, PromptReference

from ...calls.caller import Origin
from ...errors import RequestRefused
from ...live.views import ServerView
from ...resources.completions import CompletionUnavailable
from ..clients import RequestContext, origin, refusals
from ..messages import jsonrpc
from ..messages.wire import INVALID_PARAMS, MODERN


def register(server: Server[Any], view: ServerView) -> None:
    """Let ``server`` offer values for the arguments of ``view``'s prompts and resource templates."""

    async def complete(context: RequestContext, params: CompleteRequestParams) -> dict[str, Any]:
        with refusals():
            if view.prompts is None and view.resources is None:
                raise RequestRefused(METHOD_NOT_FOUND, "Method not found", context.method)
            try:
                completion = await _completion(view, params, origin(context))
            except CompletionUnavailable as fault:
                raise RequestRefused(jsonrpc.INTERNAL_ERROR, f"Values are not available: {fault}") from None
        modern = {"resultType": "complete"} if context.protocol_version in MODERN else {}
        return {"completion": completion, **modern}

    server.add_request_handler("completion/complete", CompleteRequestParams, complete)


async def _completion(view: ServerView, params: CompleteRequestParams, origin: Origin) -> dict[str, Any]:
    given = dict((params.context.arguments if params.context else None) or {})
    name, typed = params.argument.name, params.argument.value
    if isinstance(params.ref, PromptReference):
        if view.prompts is None:
            raise RequestRefused(INVALID_PARAMS, f"Prompt {params.ref.name[:200]!r} not found")
        return await view.prompts.complete(params.ref.name, name, typed, given, origin)
    if view.resources is None:
        raise RequestRefused(INVALID_PARAMS, f"Resource template {params.ref.uri[:200]!r} not found")
    return await view.resources.complete(params.ref.uri, name, typed, given, origin)
