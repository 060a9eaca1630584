"""Rates in which scenarios count by their weights.

Weights say what matters, not what is sure: intervals, badges and thresholds count every trial once.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

from ..storage.trial import Trial

__all__ = ["rounded", "weight_of", "weighted_rate"]


def weight_of(trial: Trial) -> float:
    """How much the trial's scenario counts; 1 where nothing else was kept."""
    weight = trial.details.get("weight")
    if isinstance(weight, int | float) and not isinstance(weight, bool) and weight > 0:
        return float(weight)
    return 1.0


def weighted_rate(trials: Iterable[Trial]) -> float | None:
    """The weights of the trials that succeeded by those of all, 0 … 1, errors of providers left out; ``None``
    where all count alike, so that it is the rate."""
    measured = [(weight_of(trial), trial.success) for trial in trials if not trial.is_error]
    if len({weight for weight, _ in measured}) < 2:
        return None
    whole = fsum(weight for weight, _ in measured)
    return fsum(weight for weight, success in measured if success) / whole


def rounded(rate: float | None) -> float | None:
    """``rate`` to six places, as JSON has it."""
    return None if rate is None else round(rate, 6)
