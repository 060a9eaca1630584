"""An answer of the gateway: what every API writes of it, whole or as it comes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from toolspan_server.common.gathered_text import GatheredText

from .asked import Asked
from .pieces import Finished, Piece, Retracted, TextPiece, ThoughtPiece, Warned

__all__ = ["Begun", "Collected", "Collector", "Turn"]


@dataclass(frozen=True, slots=True)
class Begun:
    """An answer that has begun: to ``asked``, by ``model`` (``provider/model``), under the random ``id``;
    ``created`` is in seconds since 1970."""

    asked: Asked
    model: str
    id: str = field(default_factory=lambda: secrets.token_hex(12))
    created: int = field(default_factory=lambda: int(time.time()))

    def call_id(self, number: int) -> str:
        """The id of the answer's call ``number``, as the client knows it."""
        return f"{self.id}{number:02d}"


@dataclass(frozen=True, slots=True)
class Turn:
    """What the client sees of one turn of the model; ``unfit``: its text does not fit the schema.
    ``retracted``: its text is no part of the answer, and was seen in a stream only."""

    text: str = ""
    thoughts: str = ""
    unfit: bool = False
    retracted: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """A whole answer: its ``turns``, how it ``finished``, and what was said beside it (``warnings``)."""

    all_turns: tuple[Turn, ...]
    finished: Finished
    warnings: tuple[str, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Those that the answer is made of."""
        return tuple(turn for turn in self.all_turns if not turn.retracted)

    @property
    def text(self) -> str:
        """All that was said, as one text."""
        return _joined(self.turns)

    @property
    def streamed_text(self) -> str:
        """The same as a stream gave it."""
        return _joined(self.all_turns)

    @property
    def thoughts(self) -> str:
        """All thoughts, as one text."""
        return "\n\n".join(turn.thoughts for turn in self.turns if turn.thoughts)


def _joined(turns: Iterable[Turn]) -> str:
    return "\n\n".join(turn.text for turn in turns if turn.text)


@dataclass(slots=True)
class _OpenTurn:
    """A turn whose pieces still come."""

    text: GatheredText = field(default_factory=GatheredText)
    thoughts: GatheredText = field(default_factory=GatheredText)
    unfit: bool = False
    retracted: bool = False


class Collector:
    """Collects the pieces of an answer, one by one."""

    def __init__(self) -> None:
        self._turns: dict[int, _OpenTurn] = {}
        self._warnings: list[str] = []
        self._finished: Finished | None = None

    def add(self, piece: Piece) -> None:
        """One more piece."""
        match piece:
            case TextPiece(text=text, turn=turn):
                said = self._turns.setdefault(turn, _OpenTurn())
                said.text.add(text)
                said.unfit = piece.unfit
            case ThoughtPiece(text=text, turn=turn):
                self._turns.setdefault(turn, _OpenTurn()).thoughts.add(text)
            case Retracted(turn=turn):
                self._turns[turn].retracted = True
            case Warned(text=text):
                self._warnings.append(text)
            case Finished():
                self._finished = piece

    @property
    def whole(self) -> Collected:
        """The answer, after its last piece."""
        if self._finished is None:
            raise AssertionError("the last piece is Finished")
        turns = (
            Turn(turn.text.text, turn.thoughts.text, turn.unfit, turn.retracted)
            for turn in self._turns.values()
        )
        return Collected(tuple(turns), self._finished, tuple(self._warnings))
