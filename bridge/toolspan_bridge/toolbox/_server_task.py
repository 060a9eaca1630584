"""A call that its server makes a task of: its result is asked for until it is there (MCP extension tasks,
SEP-2663)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import anyio

from toolspan_server.engines.upstreams import (
    CallRefused,
    InputNeeded,
    NoResult,
    RefusedQuestion,
    ServerGone,
    UpstreamResult,
    result_of,
)

from ._active_call import ActiveCall
from ._approved_call import approval_of

Request = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a request to the server: its method and parameters."""

_LEAST_PAUSE, _LONGEST_PAUSE, _USUAL_PAUSE = 0.05, 30.0, 1.0
_MOST_LOST = 5
_CANCEL_SECONDS = 5.0
_INTERNAL_ERROR = -32603


class TaskFailed(CallRefused):
    """The task ended without a result."""


class ServerTask:
    """The task ``id`` of a call, whose server is asked by ``request``. ``approves``: the call was allowed
    here, which is the answer when our own server asks for that."""

    def __init__(self, id: str, request: Request, call: ActiveCall, *, approves: bool = False) -> None:
        self._approves = approves
        self._id = id
        self._request = request
        self._call = call
        self._message = ""
        self._answered: set[str] = set()
        self._lost = 0

    async def result(self) -> UpstreamResult:
        """What the call comes to. What the task asks is answered, what it tells is reported; cancelling
        cancels it there. Raises ``TaskFailed``, ``CallRefused`` (there is no such task), ``NoResult`` and
        ``ServerGone``."""
        try:
            while True:
                state = await self._state()
                status = state.get("status")
                if status == "completed":
                    return _result(state.get("result"))
                if status in ("failed", "cancelled"):
                    raise _refusal(state)
                self._tell(state.get("statusMessage"))
                if status == "input_required":
                    await self._answer(state.get("inputRequests"))
                await anyio.sleep(_pause(state))
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                await self._cancel()
            raise

    async def _state(self) -> dict[str, Any]:
        """The task's state; a server that is lost is asked again, a few times in a row at most."""
        while True:
            try:
                state = await self._request("tasks/get", {"taskId": self._id})
            except ServerGone:
                self._lost += 1
                if self._lost > _MOST_LOST:
                    raise
                await anyio.sleep(_USUAL_PAUSE)
            else:
                self._lost = 0
                return state

    async def _answer(self, requests: Any) -> None:
        """Answer what was not asked before. What is refused ends the call, and the task with it."""
        given: Mapping[str, Any] = cast("Any", requests) if isinstance(requests, Mapping) else {}
        approval = approval_of(InputNeeded(given)) if self._approves and not self._answered else None
        responses: dict[str, Any] = {} if approval is None else dict(approval.responses)
        for key, asked in given.items():
            if key in self._answered or key in responses or not isinstance(asked, Mapping):
                continue
            question = cast("Mapping[str, Any]", asked)
            given_params = question.get("params")
            params: Mapping[str, Any] = cast("Any", given_params) if isinstance(given_params, Mapping) else {}
            try:
                responses[key] = await self._call.questions.answer(str(question.get("method")), params)
            except RefusedQuestion as refused:
                await self._cancel()
                raise TaskFailed(refused.code, refused.message) from None
        if responses:
            self._answered |= set(responses)
            await self._request("tasks/update", {"taskId": self._id, "inputResponses": responses})

    async def _cancel(self) -> None:
        try:
            await self._request("tasks/cancel", {"taskId": self._id})
        except (CallRefused, NoResult, ServerGone, TimeoutError):
            return  # it has ended, or nobody is there to end it

    def _tell(self, message: Any) -> None:
        if isinstance(message, str) and message and message != self._message:
            self._message = message
            self._call.log({"level": "notice", "data": message, "logger": "task"})


def _result(result: Any) -> UpstreamResult:
    try:
        return result_of(result)
    except ValueError as error:
        raise NoResult(f"the server's task came to something that is no tool result: {error}") from None


def _refusal(state: Mapping[str, Any]) -> TaskFailed:
    error: Any = state.get("error")
    if isinstance(error, Mapping):
        known = cast("Mapping[str, Any]", error)
        code = known.get("code")
        return TaskFailed(code if isinstance(code, int) else _INTERNAL_ERROR, str(known.get("message", "")))
    return TaskFailed(_INTERNAL_ERROR, f"the server's task was {state.get('status')}")


def _pause(state: Mapping[str, Any]) -> float:
    interval = state.get("pollIntervalMs")
    wanted = interval / 1000 if isinstance(interval, int | float) and interval > 0 else _USUAL_PAUSE
    return min(max(wanted, _LEAST_PAUSE), _LONGEST_PAUSE)
