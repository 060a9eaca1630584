"""Rates in which scenarios count by their weights.

Weights say what matters, not what is sure: intervals, badges and thresholds count every trial once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import fsum

from ..storage.trial import Trial

__all__ = ["Weights", "rounded", "weight_of", "weighted_rate"]


def weight_of(trial: Trial) -> float:
    """How much the trial's scenario counts; 1 where nothing else was kept."""
    weight = trial.details.get("weight")
    if isinstance(weight, int | float) and not isinstance(weight, bool) and weight > 0:
        return float(weight)
    return 1.0


@dataclass(slots=True)
class Weights:
    """How many trials there were of each weight, and how many of them succeeded; errors of providers are
    left out."""

    n: Counter[float] = field(default_factory=Counter[float])
    successes: Counter[float] = field(default_factory=Counter[float])

    def add(self, trial: Trial) -> None:
        """Count ``trial``."""
        if not trial.is_error:
            weight = weight_of(trial)
            self.n[weight] += 1
            self.successes[weight] += trial.success

    @property
    def rate(self) -> float | None:
        """The weights of the trials that succeeded by those of all, 0 … 1; ``None`` where all count alike,
        so that it is the rate."""
        if len(self.n) < 2:
            return None
        whole = fsum(weight * count for weight, count in self.n.items())
        return fsum(weight * count for weight, count in self.successes.items()) / whole


def weighted_rate(trials: Iterable[Trial]) -> float | None:
    """The rate of ``Weights`` of these trials."""
    weights = Weights()
    for trial in trials:
        weights.add(trial)
    return weights.rate


def rounded(rate: float | None) -> float | None:
    """``rate`` to six places, as JSON has it."""
    return None if rate is None else round(rate, 6)
