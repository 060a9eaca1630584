"""The client of a call as one call inside it sees it."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from typing_extensions import override

from ...calls.client import (
    Client,
    ClientAnswer,
    ClientWrapper,
    Question,
)

_MEMORY = "dev.toolspan/within"


class StepClient(ClientWrapper):
    """``client`` for the call ``name`` inside its call: questions and memory of its own under that name.

    Two calls of one tool may so ask the same at the same time. Progress is that of the whole: ``done`` of
    ``total`` calls are behind, and what this one reports is a part of the next; with ``total`` 0 nothing is
    passed on.
    """

    def __init__(self, client: Client, name: str, done: int = 0, total: int = 0) -> None:
        super().__init__(client)
        self._name = name
        self._done = done
        self._total = total
        self._all: MutableMapping[str, Any] = client.memory.setdefault(_MEMORY, {})
        self.memory = self._all.setdefault(name, {})

    def forget(self) -> None:
        """The call is over: what it kept in memory is of no use any more."""
        self._all.pop(self._name, None)
        if not self._all:
            self._client.memory.pop(_MEMORY, None)

    @override
    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The client's answers; see ``Client.ask``."""
        answers = await self._client.ask({self._named(key): each for key, each in questions.items()})
        return {key: answers[self._named(key)] for key in questions}

    @override
    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the whole pipeline, when this call reports its own."""
        if total and self._total:
            part = min(max(progress / total, 0.0), 1.0)
            await self._client.progress(self._done + part, self._total, message)

    def _named(self, key: str) -> str:
        return f"{self._name}.{key}"
