"""A call that its upstream makes a task of, whose state is asked for until it has a result (MCP extension
tasks, SEP-2663)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import anyio

from ...calls.caller import Origin
from ...calls.client import Client, Question
from ...engines.upstreams import CallRefused, NoResult, NotAuthorized, ServerGone, UpstreamResult, result_of
from ...errors import RequestRefused

if TYPE_CHECKING:
    from ..services._upstreams import Upstream

MOST_QUESTIONS = 64
"""Questions that one task may ask."""

_SECONDS = 30.0
_CANCEL_SECONDS = 5.0
_MOST_LOST = 5
_LEAST_PAUSE, _LONGEST_PAUSE, _USUAL_PAUSE = 0.05, 30.0, 1.0
_LONGEST_MESSAGE = 1_000
_INTERNAL_ERROR = -32603
_GONE = (CallRefused, NoResult, NotAuthorized, ServerGone)


class UpstreamTask:
    """The ``task`` of ``upstream``, as it told it. ``client`` is told its messages, and asked what it asks,
    each of which ``question`` makes of a request."""

    def __init__(
        self,
        upstream: Upstream,
        task: Mapping[str, Any],
        client: Client,
        question: Callable[[Mapping[str, Any]], Question],
        origin: Origin,
    ) -> None:
        self._upstream = upstream
        self._id = str(task["taskId"])
        self._told = task
        self._client = client
        self._question = question
        self._origin = origin
        self._message = ""
        self._answered: set[str] = set()

    async def result(self) -> UpstreamResult:
        """What it comes to; what else ends this cancels it there. The client's call is a task from now on,
        if it may be one.

        Raises ``RequestRefused`` with the error that it ended with, and what ``Connection.request`` and
        ``Client.ask`` raise.
        """
        try:
            if self._client.accepts("task"):
                await self._client.release()
            return await self._ended()
        except BaseException:
            with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                await self._cancel()
            raise

    async def _ended(self) -> UpstreamResult:
        state = self._told
        while True:
            await anyio.sleep(_pause(state))
            state = await self._state()
            if (status := state.get("status")) == "completed":
                return self._completed(state.get("result"))
            if status in ("failed", "cancelled"):
                raise self._refusal(state)
            await self._tell(state.get("statusMessage"))
            if status == "input_required":
                await self._answer(state.get("inputRequests"))

    async def _state(self) -> Mapping[str, Any]:
        """Its state; an upstream that is lost is asked again, a few times in a row."""
        for _ in range(_MOST_LOST):
            try:
                return await self._request("tasks/get")
            except ServerGone:
                await anyio.sleep(_USUAL_PAUSE)
        return await self._request("tasks/get")

    async def _request(self, method: str, **params: Any) -> Mapping[str, Any]:
        connection = await self._upstream.connection_of_caller(self._origin)
        try:
            return await connection.request(method, {"taskId": self._id, **params}, timeout=_SECONDS)
        except TimeoutError:
            raise NoResult(f"did not answer {method} within {_SECONDS:g} s") from None

    async def _answer(self, requests: Any) -> None:
        """Have the client answer what it was not asked before."""
        given = _mapping(requests)
        new = {key: asked for key, asked in given.items() if key not in self._answered}
        if len(self._answered) + len(new) > MOST_QUESTIONS:
            raise NoResult(f"asks more than {MOST_QUESTIONS} questions in one task")
        asked = {key: self._question(_mapping(each)) for key, each in new.items()}
        if asked:
            answers = await self._client.ask(asked)
            self._answered |= set(asked)
            responses = {key: dict(answer) for key, answer in answers.items()}
            await self._request("tasks/update", inputResponses=responses)

    async def _tell(self, message: Any) -> None:
        if isinstance(message, str) and message and message != self._message:
            self._message = message
            await self._client.progress(0.0, None, message[:_LONGEST_MESSAGE])

    async def _cancel(self) -> None:
        try:
            await self._request("tasks/cancel")
        except _GONE:
            return  # it has ended, or nobody is there to end it

    def _completed(self, result: Any) -> UpstreamResult:
        try:
            return result_of(result)
        except ValueError as error:
            raise NoResult(f"ended a task with something that is no tool result: {error}") from None

    def _refusal(self, state: Mapping[str, Any]) -> RequestRefused:
        error = _mapping(state.get("error"))
        code, message = error.get("code"), error.get("message", f"The task was {state.get('status')}")
        known = code if isinstance(code, int) else _INTERNAL_ERROR
        return RequestRefused(known, self._upstream.connection.spec.redact(str(message)), error.get("data"))


def _pause(state: Mapping[str, Any]) -> float:
    interval = state.get("pollIntervalMs")
    wanted = interval / 1000 if isinstance(interval, int | float) and interval > 0 else _USUAL_PAUSE
    return min(max(wanted, _LEAST_PAUSE), _LONGEST_PAUSE)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
