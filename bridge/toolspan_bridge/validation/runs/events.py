"""What is told of a run while it is under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..storage.trial import Trial

__all__ = ["Event", "OnEvent", "TrialFinished", "TrialStarted"]


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial begins: the ``number``-th of ``total`` in this run."""

    model_id: str
    scenario: str
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has ended and is written to the store."""

    trial: Trial
    number: int
    total: int


Event = TrialStarted | TrialFinished
OnEvent = Callable[[Event], None]
