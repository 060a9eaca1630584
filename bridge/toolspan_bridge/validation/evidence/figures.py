"""Figures that add up: what many trials come to without any of them being read again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ..storage.trial import Trial
from .confusion import confusion

__all__ = ["OTHERS", "Figures"]

OTHERS = "…"
"""Stands for every called tool beyond the pairs that a scenario may have."""

_MOST_PAIRS = 100
_LONGEST_NAME = 100
_PICO = 10**12
_MOST_USD = 1_000_000


@dataclass(slots=True)
class Figures:
    """What trials that are no errors come to: the calls that were ``rescued``, their ``tokens``, their cost
    in ``picodollars`` (10⁻¹² US dollars, whole, so that any order gives the same sum), how many have no known
    cost, and how often each pair of an expected and a called tool was seen."""

    rescued: int = 0
    tokens: int = 0
    picodollars: int = 0
    unpriced: int = 0
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    @property
    def usd(self) -> float | None:
        """The cost in US dollars; ``None`` where that of a trial is not known."""
        return None if self.unpriced else self.picodollars / _PICO

    @property
    def text(self) -> str:
        """All of it as canonical JSON."""
        pairs = sorted([*pair, count] for pair, count in self.confusion.items())
        data = {"rescued": self.rescued, "tokens": self.tokens, "confusion": pairs}
        costs = {"picodollars": self.picodollars, "unpriced": self.unpriced}
        return json.dumps({**data, **costs}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def add_trial(self, trial: Trial, pairs: Mapping[tuple[str, str], int] | None = None) -> None:
        """Count ``trial``, unless it is an error; ``pairs`` are its confusion where that is known already."""
        if trial.is_error:
            return
        usd = trial.usd
        known = usd is not None and 0 <= usd <= _MOST_USD
        cost = round(usd * _PICO) if usd is not None and known else 0
        found = Counter[tuple[str, str]]()
        for (expected, called), count in (confusion([trial]) if pairs is None else pairs).items():
            found[_short(expected), _short(called)] += count
        self.add(Figures(trial.rescued, trial.tokens, cost, int(not known), found))

    def add(self, other: Figures) -> None:
        """Count what ``other`` counted."""
        self.rescued += other.rescued
        self.tokens += other.tokens
        self.picodollars += other.picodollars
        self.unpriced += other.unpriced
        for (expected, called), count in other.confusion.items():
            is_new = (expected, called) not in self.confusion
            full = is_new and len(self.confusion) >= _MOST_PAIRS
            self.confusion[(OTHERS, OTHERS) if full else (expected, called)] += count

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> Self:
        """The figures of ``trials``."""
        found = cls()
        for trial in trials:
            found.add_trial(trial)
        return found

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What ``text`` was written of. Raises ``ValueError``, ``KeyError`` or ``TypeError`` when there is
        none."""
        data: dict[str, Any] = json.loads(text)
        pairs = Counter({(str(a), str(b)): int(count) for a, b, count in data["confusion"]})
        rescued, tokens, picodollars = (int(data[name]) for name in ("rescued", "tokens", "picodollars"))
        return cls(rescued, tokens, picodollars, int(data["unpriced"]), pairs)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}{OTHERS}"
