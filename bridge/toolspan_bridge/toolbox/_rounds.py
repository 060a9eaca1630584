"""Calls that come back for input (MCP 2026-07-28, basic/patterns/mrtr)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast

import anyio

from toolspan_server.engines.upstreams import (
    InputNeeded,
    InputResponses,
    RefusedQuestion,
)

from ._call_questions import CallQuestions

_T = TypeVar("_T")
MAX_REQUESTS = 16
"""The most that a server may ask in one round."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class NotAnswered(Exception):
    """What the server wants for the call is not given to it; the message says why. ``method`` is that of the
    request, if it was one."""

    def __init__(self, message: str, method: str = "") -> None:
        super().__init__(message)
        self.method = method


async def with_answers(
    send: Callable[[InputResponses | None], Awaitable[_T | InputNeeded]],
    first: InputNeeded,
    questions: CallQuestions,
    rounds: int,
    go_without: Callable[[str], bool] | None = None,
) -> _T:
    """The result of a request that needs input, once it has all that it asks for in ``rounds`` at most.
    ``send`` makes it again, with the responses of the round before. ``go_without`` is told the method of a
    request that is refused, and whether the server goes on without any is its answer.

    Raises ``NotAnswered``, and what ``send`` raises.
    """
    needed, pause = first, _FIRST_PAUSE
    for _ in range(rounds):
        if needed.requests:
            responses = await _given(needed.requests, questions, go_without)
            pause = _FIRST_PAUSE
        else:
            await anyio.sleep(pause)
            responses, pause = {}, min(2 * pause, _LONGEST_PAUSE)
        answer = await send(InputResponses(responses, needed.state))
        if not isinstance(answer, InputNeeded):
            return answer
        needed = answer
    raise NotAnswered(f"it asked for input more than {rounds} times")


async def _given(
    requests: Mapping[str, Mapping[str, Any]],
    questions: CallQuestions,
    go_without: Callable[[str], bool] | None,
) -> dict[str, dict[str, Any]]:
    try:
        return await _responses(requests, questions)
    except NotAnswered as refused:
        if go_without is None or not go_without(refused.method):
            raise
        return {}


async def _responses(
    requests: Mapping[str, Mapping[str, Any]], questions: CallQuestions
) -> dict[str, dict[str, Any]]:
    """The answers by key, asked for one after the other: there is one person."""
    if len(requests) > MAX_REQUESTS:
        raise NotAnswered(f"it asks for more than {MAX_REQUESTS} things at once")
    responses: dict[str, dict[str, Any]] = {}
    for key, request in requests.items():
        method, given = request.get("method"), request.get("params")
        params: Mapping[str, Any] = cast("Any", given) if isinstance(given, Mapping) else {}
        try:
            responses[key] = await questions.answer(str(method), params)
        except RefusedQuestion as refused:
            raise NotAnswered(refused.message, str(method)) from None
    return responses


def input_needed(result: Mapping[str, Any]) -> InputNeeded | None:
    """What ``result`` asks for, if it does (MCP 2026-07-28, basic/patterns/mrtr)."""
    if result.get("resultType") != "input_required":
        return None
    return InputNeeded(result.get("inputRequests") or {}, result.get("requestState"))


def with_responses(params: Mapping[str, Any], again: InputResponses | None) -> dict[str, Any]:
    """``params`` of a request that is made again."""
    if again is None:
        return dict(params)
    known = {"inputResponses": dict(again.responses)} if again.responses else {}
    return {**params, **known} | ({"requestState": again.state} if again.state is not None else {})
