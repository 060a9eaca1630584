"""What was shown in short, kept whole for whoever wants to see it."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Fold", "Folded"]

_MOST = 200
_MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Fold:
    """Something shown in short under ``number``; of a ``text`` that is very long the beginning is kept."""

    number: int
    title: str
    text: str


@dataclass(slots=True)
class Folded:
    """The last things that were shown in short. With ``whole`` they are shown whole at once."""

    whole: bool = False
    _kept: dict[int, Fold] = field(default_factory=dict[int, Fold])
    _count: int = 0

    def add(self, title: str, text: str) -> int:
        """Keep ``text``; returns its number, which counts from 1."""
        self._count += 1
        if len(text) > _MOST_CHARACTERS:
            text = f"{text[:_MOST_CHARACTERS]}\n… {len(text) - _MOST_CHARACTERS:,} more characters"
        self._kept[self._count] = Fold(self._count, title, text)
        self._kept.pop(self._count - _MOST, None)
        return self._count

    def get(self, number: int | None = None) -> Fold | None:
        """The one of ``number``, or the last; ``None`` when it is not kept."""
        return self._kept.get(self._count if number is None else number)

    @property
    def numbers(self) -> list[int]:
        """The numbers of what is kept."""
        return list(self._kept)
