"""The events of a run, as the pieces that every inbound API streams: texts, thoughts, and the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from toolspan_server.common.gathered_text import GatheredText

from ...events import (
    Answer,
    End,
    Event,
    Notice,
    ReasoningDelta,
    SamplingAnswer,
    SubagentEvent,
    Text,
    TextDelta,
    UsageReported,
)
from ...messages import ToolCall, Usage
from .faults import RequestFault
from .stops import StopTexts

__all__ = ["Finish", "Finished", "Piece", "TextPiece", "ThoughtPiece", "Warned", "pieces_of"]

Finish = Literal["stop", "stop_text", "length", "calls", "refusal", "unfit"]
"""How an answer ended: by itself, at a text that ends it, at a limit of tokens, with calls of the client's
own tools, refused, or with a text that does not fit the schema."""

_FINISHES: dict[str, Finish] = {
    "calls": "calls",
    "length": "length",
    "refusal": "refusal",
    "denied": "refusal",
    "schema": "unfit",
}
_BROKEN = ("empty", "error", "incomplete", "malformed")


@dataclass(frozen=True, slots=True)
class TextPiece:
    """More of the text of the turn ``turn``, which counts those that the client sees. With ``unfit`` it is
    the whole text, in the place of an answer that fits the schema."""

    text: str
    turn: int
    unfit: bool = False


@dataclass(frozen=True, slots=True)
class ThoughtPiece:
    """More of the thoughts of the turn ``turn``."""

    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that whoever asks should know, in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end. ``calls`` are those of the client's own tools; ``usage`` is that of all turns; ``stop_text``
    is the text that ended the answer, if one did; ``answer`` is ``None`` where it was cut off there."""

    finish: Finish
    usage: Usage
    calls: tuple[ToolCall, ...] = ()
    stop_text: str = ""
    answer: Answer | None = None


Piece = TextPiece | ThoughtPiece | Warned | Finished
"""One piece of an answer; the last is ``Finished``."""


async def pieces_of(
    events: AsyncGenerator[Event], stops: Sequence[str] = (), *, held: bool = False, thoughts: bool = False
) -> AsyncGenerator[Piece]:
    """The pieces of a run's ``events``, which are closed at the end or at one of ``stops``.

    ``held``: the text comes only at the end, where it is known to be the answer. Raises ``RequestFault`` for
    an answer that broke off, and what the run raises.
    """
    reader = _Reader(stops, held=held, thoughts=thoughts)
    async with aclosing(events):
        async for event in events:
            for piece in reader.read(event):
                yield piece
            if reader.is_over:
                return


class _Reader:
    """Reads the events one by one; ``is_over`` after the last piece."""

    def __init__(self, stops: Sequence[str], *, held: bool, thoughts: bool) -> None:
        self.is_over = False
        self._stops = StopTexts(stops)
        self._held = held
        self._thoughts = thoughts
        self._turn = 0
        self._turn_ended = False
        self._turn_has_text = False
        self._said = GatheredText()
        self._usage = Usage()

    def read(self, event: Event) -> Iterator[Piece]:
        match event:
            case TextDelta(text=text):
                self._begin_turn()
                yield from self._text(text)
            case ReasoningDelta(text=text):
                self._begin_turn()
                if self._thoughts:
                    yield ThoughtPiece(text, self._turn)
            case UsageReported(usage=usage):
                self._begin_turn()
                self._turn_ended = True
                self._usage += usage
                yield from self._cut()
            case Text(text=text):
                if not self._turn_has_text:
                    yield from self._text(text)
                    yield from self._cut()
            case SubagentEvent() | SamplingAnswer():
                self._usage += _used(event)
            case Notice(text=text):
                yield Warned(text)
            case End(answer=answer):
                yield from self._end(answer)
            case _:
                pass

    def _begin_turn(self) -> None:
        if self._turn_ended:
            self._turn += 1
            self._turn_ended = self._turn_has_text = False

    def _text(self, text: str) -> Iterator[Piece]:
        self._turn_has_text = self._turn_has_text or bool(text)
        if not self._held and (shown := self._stops.feed(text)):
            self._said.add(shown)
            yield TextPiece(shown, self._turn)

    def _cut(self) -> Iterator[Piece]:
        """The end, where the turn had a text that ends the answer: its calls are not made."""
        if self._stops.found:
            self.is_over = True
            yield Finished("stop_text", self._usage, stop_text=self._stops.found)
        elif rest := self._stops.close():
            self._said.add(rest)
            yield TextPiece(rest, self._turn)

    def _end(self, answer: Answer) -> Iterator[Piece]:
        if answer.stop in _BROKEN:
            why = answer.reason or "The answer broke off."
            raise RequestFault(why, status=502, code=answer.stop, retryable=True)
        if answer.content and not self._said.text.endswith(answer.content):
            shown = self._stops.feed(answer.content) + self._stops.close()
            yield TextPiece(shown, self._turn + bool(self._said), unfit=answer.stop == "schema")
        self.is_over = True
        if self._stops.found:
            yield Finished("stop_text", self._usage, stop_text=self._stops.found)
            return
        finish = _FINISHES.get(answer.stop, "stop")
        yield Finished(finish, self._usage, answer.returned_calls, answer=answer)


def _used(event: Event) -> Usage:
    """The tokens of a sub-agent's turn, or of one that a server asked for."""
    while isinstance(event, SubagentEvent):
        event = event.event
    return event.usage if isinstance(event, SamplingAnswer | UsageReported) else Usage()
