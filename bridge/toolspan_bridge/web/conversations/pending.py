"""What the person is asked in a run, until it is answered, by whoever is first."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from ..problems import Problem

Kind = Literal["approval", "elicitation"]


@dataclass(eq=False, slots=True)
class PendingRequest:
    """A question to the person: its ``data`` as the event has it. ``read`` makes the answer of what was
    posted, and raises ``Problem`` for what is none."""

    id: str
    kind: Kind
    data: dict[str, Any]
    read: Callable[[Mapping[str, Any]], Any]
    answer: Any = None
    answered: anyio.Event = field(default_factory=anyio.Event)


class PendingRequests:
    """The open questions of one conversation; those that were answered are known as long as it is
    remembered."""

    def __init__(self) -> None:
        self._open: dict[str, PendingRequest] = {}
        self._over: dict[str, None] = {}

    @property
    def open(self) -> list[PendingRequest]:
        """Those that wait for an answer."""
        return [each for each in self._open.values() if not each.answered.is_set()]

    def add(
        self, kind: Kind, data: dict[str, Any], read: Callable[[Mapping[str, Any]], Any]
    ) -> PendingRequest:
        """Another question, with an id of its own in its data."""
        made = secrets.token_hex(8)
        request = self._open[made] = PendingRequest(made, kind, {"request": made, **data}, read)
        return request

    def end(self, request: PendingRequest) -> None:
        """Nobody waits for its answer any more."""
        self._open.pop(request.id, None)
        self._over[request.id] = None
        while len(self._over) > _MOST_OVER:
            del self._over[next(iter(self._over))]

    def answer(self, request_id: str, posted: Mapping[str, Any]) -> None:
        """Answer the question. Raises ``Problem``: 404 for one that is not there, 409 for one that is
        answered or withdrawn, 422 for what is no answer to it."""
        request = self._open.get(request_id)
        if request_id in self._over or (request is not None and request.answered.is_set()):
            raise Problem(409, "this request was answered already, or withdrawn", "already_answered")
        if request is None:
            raise Problem(404, f"no request {request_id[:40]!r} waits for an answer in this conversation")
        request.answer = request.read(posted)
        request.answered.set()


_MOST_OVER = 1_000
