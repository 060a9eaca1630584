"""``tasks/get``, ``tasks/update`` and ``tasks/cancel`` (SEP-2663). Importing this module imports ``mcp``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, RequestParams

from ...calls.caller import Origin
from ...calls.client import InputRequired
from ...calls.context import Context
from ...config import TaskConfig
from ...errors import RequestRefused
from ...live.served_tool import ServedTool
from ...live.views import ServerView
from ..clients import (
    LateTaskClient,
    RequestContext,
    RoundsClient,
    TaskClient,
    capabilities_of,
    fault_in,
    missing_capability,
    origin,
    principal,
    refusals,
    rendered,
)
from ..messages import jsonrpc, wire
from ..messages.capabilities import TASKS, supports_tasks
from ..state.running_calls import Busy, Calls
from ..state.task import Task
from ..state.tasks import INVALID_PARAMS, Tasks

EARLY_S = 0.1
"""How long a tool that asks before its task has for its questions."""

_Handler = Callable[[RequestContext, Task, Any], None]


class _TaskParams(RequestParams):
    task_id: str


class _UpdateParams(_TaskParams):
    input_responses: dict[str, Any]


def register(server: Server[Any], view: ServerView, tasks: Tasks) -> None:
    """Let ``server`` handle requests about ``tasks``, each for the principal that created it."""

    def found(context: RequestContext, task_id: str) -> Task:
        if context.protocol_version not in wire.MODERN or not supports_tasks(view):
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=context.method)
        require_extension(context)
        return tasks.find(task_id, principal(context))

    async def get(context: RequestContext, params: _TaskParams) -> dict[str, Any]:
        with refusals():
            return {"resultType": "complete", **found(context, params.task_id).detailed(rendered)}

    async def update(context: RequestContext, params: _UpdateParams) -> dict[str, Any]:
        with refusals():
            task = found(context, params.task_id)
            _check(task, params.input_responses)
            task.answer(params.input_responses)
            return {"resultType": "complete"}

    async def cancel(context: RequestContext, params: _TaskParams) -> dict[str, Any]:
        with refusals():
            found(context, params.task_id).cancel()
            return {"resultType": "complete"}

    server.add_request_handler("tasks/get", _TaskParams, get)
    server.add_request_handler("tasks/update", _UpdateParams, update)
    server.add_request_handler("tasks/cancel", _TaskParams, cancel)


def declared(context: RequestContext) -> bool:
    """Whether the request's client takes tasks."""
    return context.protocol_version in wire.MODERN and TASKS in (
        capabilities_of(context).get("extensions") or {}
    )


def require_extension(context: RequestContext) -> None:
    """Raise ``RequestRefused`` when the request's client does not take tasks."""
    if not declared(context):
        raise missing_capability({"extensions": {TASKS: {}}})


class TaskCalls:
    """Makes calls of tools as ``tasks``, by way of ``calls``."""

    def __init__(self, calls: Calls, tasks: Tasks) -> None:
        self._calls = calls
        self._tasks = tasks

    async def begin(
        self, context: RequestContext, call: wire.ToolCall, served: ServedTool, config: TaskConfig
    ) -> dict[str, Any]:
        """Start ``call``: the ``CreateTaskResult``; or what is to be asked before there is a task."""
        early = config.questions == "before"
        owner = principal(context)
        task = self._tasks.make(owner, config)
        rounds = RoundsClient(context)
        client = TaskClient(task, rounds, partial(self._calls.wait_for_client, of=owner), early=early)
        work = partial(self._result, origin(context), call, served, client, context.protocol_version)
        if not early:
            task.start(work)
        elif (needed := await self._first(task, client, work)) is not None:
            return rounds.required(needed)
        return {"resultType": "task", **task.seed()}

    async def begin_late(
        self, context: RequestContext, call: wire.ToolCall, served: ServedTool
    ) -> dict[str, Any]:
        """Start ``call``, of a tool that may make a task of it: the ``CreateTaskResult`` once it has, else
        what it gives without one."""
        owner = principal(context)
        rounds = RoundsClient(context)
        make = partial(self._tasks.make, owner, TaskConfig.initial())
        client = LateTaskClient(make, rounds, partial(self._calls.wait_for_client, of=owner))
        work = self._result(
            origin(context), call, served, client, context.protocol_version, served.tool.timeout_ms
        )
        running = asyncio.get_running_loop().create_task(work)
        try:
            either: set[asyncio.Future[Any]] = {running, client.begun}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            running.cancel()
            if client.begun.done():
                self._tasks.discard(client.begun.result())
            raise
        if client.begun.done():
            task = client.begun.result()
            task.start(lambda: running)
            return {"resultType": "task", **task.seed()}
        try:
            return running.result()
        except InputRequired as needed:
            return rounds.required(needed)

    async def _first(
        self, task: Task, client: TaskClient, work: Callable[[], Awaitable[dict[str, Any]]]
    ) -> InputRequired | None:
        """Run ``work`` until it asks, for ``EARLY_S`` at most; what it asks ends it and its ``task``."""
        asked: asyncio.Future[InputRequired] = asyncio.get_running_loop().create_future()

        async def first() -> dict[str, Any]:
            try:
                return await work()
            except InputRequired as needed:
                if not client.early:
                    return await work()
                asked.set_result(needed)
                raise asyncio.CancelledError from None

        task.start(first)
        try:
            await task.settled(EARLY_S)
        except asyncio.CancelledError:
            self._tasks.discard(task)
            raise
        client.early = False
        if not asked.done():
            return None
        self._tasks.discard(task)
        return asked.result()

    async def _result(
        self,
        origin: Origin,
        call: wire.ToolCall,
        served: ServedTool,
        client: TaskClient,
        version: str,
        timeout_ms: int | None = None,
    ) -> dict[str, Any]:
        context = Context(origin, meta=call.meta, client=client)
        try:
            result = await self._calls.run(partial(served.run, call.arguments, context), timeout_ms)
        except Busy as busy:
            raise RequestRefused(jsonrpc.INTERNAL_ERROR, str(busy)) from None
        return wire.render_result(result, version)


def _check(task: Task, answers: Mapping[str, Any]) -> None:
    """Raise ``RequestRefused`` when an answer to an open question is none."""
    for key, question in task.questions.items():
        if key in answers and (fault := fault_in(question, answers[key])):
            raise RequestRefused(INVALID_PARAMS, f"Invalid params: inputResponses.{key}: {fault}")
