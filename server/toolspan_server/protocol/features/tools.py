"""``tools/list`` and ``tools/call``. Importing this module imports ``mcp``."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import CallToolRequestParams, PaginatedRequestParams

from ...calls.client import Client
from ...calls.context import Context
from ...common import trace_context as trace
from ...live.served_tool import ServedTool
from ...live.views import ServerView
from ..clients import (
    RequestContext,
    answered,
    origin,
    principal,
    refusals,
)
from ..messages import wire
from ..messages.pagination import list_tools as listed
from ..state.running_calls import Calls
from .tasks import TaskCalls, declared, require_extension


def register(server: Server[Any], view: ServerView, calls: Calls, tasks: TaskCalls) -> None:
    """Let ``server`` list ``view``'s tools and call them, by way of ``calls`` or as ``tasks``."""

    async def list_tools(context: RequestContext, _params: PaginatedRequestParams) -> dict[str, Any]:
        await view.settled()
        with refusals():
            return listed(view, (context.params or {}).get("cursor"), context.protocol_version)

    async def call_tool(context: RequestContext, _params: CallToolRequestParams) -> dict[str, Any]:
        with refusals():
            call = wire.read_call(context.params)
            served = view.tool(call.name) or await _late(view, call.name)
            if served is None:
                raise wire.unknown_tool(call.name)
            trace.log_call(call.name, call.meta)
            task = served.tool.config.task
            if task is not None and declared(context):
                return await tasks.begin(context, call, served, task)
            if task is not None and task.support == "required":
                require_extension(context)
            if served.tool.passes_tasks and declared(context):
                return await tasks.begin_late(context, call, served)

        async def work(client: Client) -> dict[str, Any]:
            meant = Context(origin(context), meta=call.meta, client=client)
            made = partial(served.run, call.arguments, meant)
            result = await calls.run(made, served.tool.timeout_ms)
            return wire.render_result(result, context.protocol_version)

        return await answered(
            context, work, wait_for_client=partial(calls.wait_for_client, of=principal(context))
        )

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)


async def _late(view: ServerView, name: str) -> ServedTool | None:
    """The tool ``name``, once the sources have had their time to offer it."""
    await view.settled()
    return view.tool(name)
