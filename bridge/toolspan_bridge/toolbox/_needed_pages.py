"""Calls that a server makes only after pages were visited (MCP 2025-11-25, client/elicitation: the error
``URLElicitationRequiredError``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast

from toolspan_server.engines.upstreams import CallRefused, RefusedQuestion

from ._call_questions import CallQuestions
from ._rounds import MAX_REQUESTS, NotAnswered

_T = TypeVar("_T")
_URL_ELICITATION_REQUIRED = -32042


async def with_pages(send: Callable[[], Awaitable[_T]], questions: CallQuestions, rounds: int) -> _T:
    """What ``send`` gives. Where the server answers that pages have to be visited first, the person is asked
    to, and ``send`` is called again, ``rounds`` times at most.

    Raises ``NotAnswered``, and what ``send`` raises.
    """
    for _ in range(rounds):
        try:
            return await send()
        except CallRefused as refused:
            if not (pages := _pages(refused)):
                raise
        if len(pages) > MAX_REQUESTS:
            raise NotAnswered(f"it wants more than {MAX_REQUESTS} pages visited at once")
        try:
            await questions.visit(pages)
        except RefusedQuestion as question:
            raise NotAnswered(question.message) from None
    raise NotAnswered(f"it wanted pages visited more than {rounds} times for one call")


def _pages(refused: CallRefused) -> list[Mapping[str, Any]]:
    """``ElicitRequestURLParams`` of each page that the error is about; none where it is about something
    else."""
    data: Any = refused.data
    if refused.code != _URL_ELICITATION_REQUIRED or not isinstance(data, Mapping):
        return []
    listed: Any = cast("Mapping[str, Any]", data).get("elicitations")
    pages: list[Any] = cast("Any", listed) if isinstance(listed, list) else []
    return [cast("Mapping[str, Any]", page) for page in pages if isinstance(page, Mapping)]
