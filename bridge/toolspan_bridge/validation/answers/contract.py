"""What a recorded answer is, and what a suite needs to score it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call of a recorded answer. ``arguments`` is ``None`` where they are no JSON object."""

    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """What a model did in one turn of a conversation: its calls in their order, and its words."""

    calls: tuple[RecordedCall, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """What a model did for the scenario ``id``: its calls in their order, and its words; of a conversation
    ``turns`` instead. ``line`` is that of the file, from 1."""

    id: str
    calls: tuple[RecordedCall, ...]
    text: str
    line: int
    turns: tuple[RecordedTurn, ...] = ()


class Scorable(ABC):
    """A suite whose scenarios have ids, for scoring recorded answers."""

    name: str
    ids: Sequence[str]

    @abstractmethod
    def fault_of(self, answer: RecordedAnswer) -> str:
        """Why ``answer``, whose id is one of ``ids``, is no success; empty where it is one."""

    @abstractmethod
    def group_of(self, name: str) -> str:
        """The part of the suite that the id ``name`` is counted with; empty where there are no parts."""

    def unscored(self, name: str) -> str | None:
        """Why answers to ``name``, which is no id of ``ids``, are left out; ``None`` where it is unknown."""
        return None
