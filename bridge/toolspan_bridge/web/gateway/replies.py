"""An answer of the gateway: what every API writes of it, whole or as it comes."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field

from toolspan_server.common.gathered_text import GatheredText

from .asked import Asked
from .pieces import Finished, Piece, TextPiece, ThoughtPiece, Warned

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
    """What the client sees of one turn of the model; ``unfit``: its text does not fit the schema."""

    text: str = ""
    thoughts: str = ""
    unfit: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """A whole answer: its ``turns``, how it ``finished``, and what was said beside it (``warnings``)."""

    turns: tuple[Turn, ...]
    finished: Finished
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All that was said, as one text."""
        return "\n\n".join(turn.text for turn in self.turns if turn.text)

    @property
    def thoughts(self) -> str:
        """All thoughts, as one text."""
        return "\n\n".join(turn.thoughts for turn in self.turns if turn.thoughts)


@dataclass(slots=True)
class _OpenTurn:
    """A turn whose pieces still come."""

    text: GatheredText = field(default_factory=GatheredText)
    thoughts: GatheredText = field(default_factory=GatheredText)
    unfit: bool = False


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
            case Warned(text=text):
                self._warnings.append(text)
            case Finished():
                self._finished = piece

    @property
    def whole(self) -> Collected:
        """The answer, after its last piece."""
        if self._finished is None:
            raise AssertionError("the last piece is Finished")
        turns = (Turn(turn.text.text, turn.thoughts.text, turn.unfit) for turn in self._turns.values())
        return Collected(tuple(turns), self._finished, tuple(self._warnings))
