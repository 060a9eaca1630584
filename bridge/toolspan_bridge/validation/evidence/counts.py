"""How many trials there were, and how many succeeded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from ..storage.trial import Trial
from .intervals import Interval, wilson

__all__ = ["Counts", "Tally"]


@dataclass(frozen=True, slots=True)
class Counts:
    """``successes`` of ``n`` trials. ``errors`` counts those that the provider or the infrastructure did not
    bring to an end: they are not among the ``n``, and no rate knows them."""

    n: int
    successes: int
    errors: int = 0

    @property
    def tried(self) -> int:
        """All trials, errors too."""
        return self.n + self.errors

    @property
    def rate(self) -> float:
        """The share of successes, 0 … 1; 0 without a trial."""
        return self.successes / self.n if self.n else 0.0

    @property
    def interval(self) -> Interval:
        """Where the true rate lies, with a confidence of 95 %."""
        return wilson(self.successes, self.n)

    @property
    def text(self) -> str:
        """As in ``n=40, 92 %, 80–98 %``. The rate and the lower end are rounded down, the upper end up, so
        that nothing looks better or surer than it is."""
        low, high = self.interval
        percent = self.successes * 100 // self.n if self.n else 0
        return f"n={self.n:,}, {percent} %, {_down(low)}–{_up(high)} %"

    def as_dict(self) -> dict[str, Any]:
        """``{"n", "successes", "errors", "rate", "interval": [low, high]}``, to six places."""
        return {
            "n": self.n,
            "successes": self.successes,
            "errors": self.errors,
            "rate": round(self.rate, 6),
            "interval": [round(end, 6) for end in self.interval],
        }

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> Self:
        """The counts of ``trials``."""
        tally = Tally()
        for trial in trials:
            tally.add(trial)
        return cls(tally.n, tally.successes, tally.errors)


@dataclass(slots=True)
class Tally:
    """Counts that grow: of the trials that were added."""

    n: int = 0
    successes: int = 0
    errors: int = 0

    def add(self, trial: Trial) -> None:
        """Count ``trial``."""
        if trial.is_error:
            self.errors += 1
        else:
            self.n += 1
            self.successes += trial.success

    @property
    def counts(self) -> Counts:
        """The counts so far."""
        return Counts(self.n, self.successes, self.errors)


def _down(rate: float) -> int:
    return int(rate * 100 + 1e-9)


def _up(rate: float) -> int:
    return -int((1e-9 - rate * 100) // 1)
