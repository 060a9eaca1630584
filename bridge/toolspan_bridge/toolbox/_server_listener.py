"""What one server says and asks of its own accord, brought to the call that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from toolspan_server.engines.upstreams import RefusedQuestion, within_call

from ..client import ClientFeatures, Elicitor, Sampler
from ._active_call import ActiveCall
from ._awaited_pages import AwaitedPages
from ._call_clock import CallClock
from ._call_questions import SamplesTaken
from .reports import Report

_INVALID_REQUEST = -32600
_ROOTS = "roots/list"
TakeNotification = Callable[[str, Mapping[str, Any]], None]
"""Takes a notification that belongs to no call: its method and parameters."""


class ServerListener:
    """The ``Listener`` of ``server``. What does not say to which call it belongs is that of the latest one;
    but a question is refused where calls of several people run."""

    def __init__(self, server: str, features: ClientFeatures, heard: TakeNotification) -> None:
        self._server = server
        self._features = features
        self._heard = heard
        self._taken = SamplesTaken()
        self._pages = AwaitedPages()
        self._calls: dict[str, ActiveCall] = {}
        self._people: dict[str, Elicitor | None] = {}
        """Who answers in each call."""

    @contextmanager
    def calling(
        self,
        tool: str,
        report: Report,
        clock: CallClock,
        elicitor: Elicitor | None = None,
        sampler: Sampler | None = None,
    ) -> Generator[ActiveCall]:
        """A call of ``tool`` runs in the block; ``elicitor`` and ``sampler`` answer its questions, if
        given."""
        features = self._features
        if elicitor is not None and features.elicitor is not None:
            features = replace(features, elicitor=elicitor)
        if sampler is not None and features.sampler is not None:
            features = replace(features, sampler=sampler)
        call = ActiveCall(self._server, tool, features, self._taken, self._pages, report, clock)
        self._calls[call.id] = call
        self._people[call.id] = elicitor
        try:
            with within_call(call.id):
                yield call
        finally:
            del self._calls[call.id], self._people[call.id]
            call.end()

    def capabilities(self, call: str | None) -> Mapping[str, Any]:
        """What is declared to the server, the same for all calls."""
        del call
        return self._features.capabilities()

    def notify(self, method: str, params: Mapping[str, Any], call: str | None) -> bool:
        """Take a notification; false when it is none of ours."""
        if method == "notifications/progress":
            made = self._calls.get(str(params.get("progressToken")))
            if made is not None:
                made.progress(params)
        elif method == "notifications/message":
            if (made := self._meant(call)) is not None:
                made.log(params)
        elif method == "notifications/elicitation/complete":
            self._pages.complete(params.get("elicitationId"))
        else:
            self._heard(method, params)
            return False
        return True

    async def answer(self, method: str, params: Mapping[str, Any], call: str | None) -> dict[str, Any]:
        """The answer to a request of the server. Raises ``RefusedQuestion``."""
        if method == _ROOTS and self._features.roots is not None:
            return self._features.roots.as_dict()
        made = self._meant(call)
        if call not in self._calls and len({id(person) for person in self._people.values()}) > 1:
            several = f"{method} does not say in which call: several people's calls run"
            raise RefusedQuestion(_INVALID_REQUEST, several)
        if made is None:
            raise RefusedQuestion(_INVALID_REQUEST, f"no call runs in which {method} could be answered")
        return await made.questions.answer(method, params)

    def _meant(self, call: str | None) -> ActiveCall | None:
        if call is not None and call in self._calls:
            return self._calls[call]
        return next(reversed(self._calls.values()), None)
