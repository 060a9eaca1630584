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
    TextRetracted,
    UsageReported,
)
from ...messages import ToolCall, Usage
from .faults import fault_of_answer
from .stops import StopTexts

__all__ = ["Finish", "Finished", "Piece", "Retracted", "TextPiece", "ThoughtPiece", "Warned", "pieces_of"]

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
class Retracted:
    """The text of the turn ``turn`` is no part of the answer: it was thought, or the turn cannot be used."""

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


Piece = TextPiece | ThoughtPiece | Retracted | Warned | Finished
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
        self._stop_texts = stops
        self._stops = StopTexts(stops)
        self._held = held
        self._thoughts = thoughts
        self._turn = 0
        self._turn_ended = False
        self._turn_text = GatheredText()
        self._given_up = ""
        """The text of a turn that cannot be used: what the next one says again is not told twice."""
        self._compared, self._same = GatheredText(), 0
        self._said = GatheredText()
        self._usage = Usage()

    def read(self, event: Event) -> Iterator[Piece]:
        match event:
            case TextDelta(text=text):
                self._begin_turn()
                yield from self._text(text)
            case ReasoningDelta(text=text, was_text=was_text):
                self._begin_turn()
                if was_text:
                    yield from self._retract()
                if self._thoughts:
                    yield ThoughtPiece(text, self._turn)
            case UsageReported(usage=usage):
                self._begin_turn()
                self._turn_ended = True
                self._usage += usage
                yield from self._cut()
            case TextRetracted():
                yield from self._give_up()
            case Text(text=text):
                if not self._turn_text:
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
            self._turn_ended, self._turn_text = False, GatheredText()

    def _text(self, text: str) -> Iterator[Piece]:
        if self._given_up:
            self._compared.add(text)
            is_same = self._given_up.startswith(text, self._same)
            self._same += len(text)
            if not is_same or self._same >= len(self._given_up):
                yield from self._compare()
            return
        self._turn_text.add(text)
        if not self._held and (shown := self._stops.feed(text)):
            self._said.add(shown)
            yield TextPiece(shown, self._turn)

    def _retract(self) -> Iterator[Piece]:
        """The text of the turn was thought."""
        if self._given_up:
            yield Retracted(self._turn - 1)
        elif self._turn_text and not self._held:
            yield Retracted(self._turn)
            self._turn += 1
        self._turn_text = GatheredText()
        self._begin_comparing("")
        self._stops = StopTexts(self._stop_texts)

    def _give_up(self) -> Iterator[Piece]:
        """The turn cannot be used; another comes in its place."""
        if rest := self._stops.close():
            self._said.add(rest)
            yield TextPiece(rest, self._turn)
        self._begin_comparing("" if self._held else self._turn_text.text)
        self._turn_ended = True

    def _begin_comparing(self, given_up: str) -> None:
        self._given_up = given_up
        self._compared, self._same = GatheredText(), 0

    def _compare(self) -> Iterator[Piece]:
        """Go on with the text of a turn that was given up where the next one says all of it again; where it
        says something else, tell that whole."""
        before, came = self._given_up, self._compared.text
        self._begin_comparing("")
        if came.startswith(before):
            self._turn -= 1
            self._turn_text, came = GatheredText(before), came[len(before) :]
        else:
            yield Retracted(self._turn - 1)
        if came:
            yield from self._text(came)

    def _cut(self) -> Iterator[Piece]:
        """The end, where the turn had a text that ends the answer: its calls are not made."""
        if self._given_up:
            yield from self._compare()
        if self._stops.found:
            self.is_over = True
            yield Finished("stop_text", self._usage, stop_text=self._stops.found)
        elif rest := self._stops.close():
            self._said.add(rest)
            yield TextPiece(rest, self._turn)

    def _end(self, answer: Answer) -> Iterator[Piece]:
        if answer.stop in _BROKEN:
            raise fault_of_answer(answer)
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
