"""The waits of a question: for the model's first word, and for the tools that it calls."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ....events import (
    End,
    Event,
    IterationStarted,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolProgress,
    UsageReported,
)
from ..output import compact
from .waits import Wait, waits_here

_WIDTH = 60


class _EventWaits:
    """Follows the events of a question to ``model``; ``close`` ends all waits."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._waits = waits_here()
        self._turn: Wait | None = None
        self._calls: dict[str, Wait] = {}

    def follow(self, event: Event) -> None:
        """Begin and end waits by ``event``, after it was shown."""
        match event:
            case IterationStarted():
                self._end_turn()
                self._turn = self._waits.begin(self._model)
            case ReasoningDelta():
                if self._turn is not None:
                    self._turn.text = f"{self._model}, which thinks"
            case TextDelta() | Text() | UsageReported():
                self._end_turn()
            case ToolCallStarted():
                self._end_turn()
                self._began(event.call_id, event.tool)
            case ToolProgress():
                self._progressed(event)
            case ToolCallFinished():
                self._ended(event.call_id)
            case End():
                self.close()
            case _:
                pass

    def _began(self, call_id: str, tool: str) -> None:
        """A call of ``tool`` is waited for."""
        self._calls[call_id] = self._waits.begin(f"the tool {tool}", "tools")

    def _progressed(self, event: ToolProgress) -> None:
        """A call tells how far it is."""
        if (wait := self._calls.get(event.call_id)) is not None:
            of = "" if event.total is None else f" of {event.total:g}"
            message = f": {compact(event.message, _WIDTH)}" if event.message else ""
            wait.text = f"the tool {event.tool}, {event.progress:g}{of}{message}"

    def _ended(self, call_id: str) -> None:
        """A call is over."""
        if (wait := self._calls.pop(call_id, None)) is not None:
            self._waits.end(wait)

    def close(self) -> None:
        """Nothing is waited for any more."""
        self._end_turn()
        for call_id in list(self._calls):
            self._ended(call_id)

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._waits.end(self._turn)
            self._turn = None


@contextmanager
def followed(show: Callable[[Event], None], model: str = "the model") -> Generator[Callable[[Event], None]]:
    """What takes the events of a question or a call, gives them to ``show`` and shows what they wait for."""
    waits = _EventWaits(model)

    def follow(event: Event) -> None:
        show(event)
        waits.follow(event)

    try:
        yield follow
    finally:
        waits.close()
