"""What is told of a run while it is under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..storage.trial import Trial
from .plan import Plan

__all__ = ["Event", "OnBegin", "OnEvent", "RunBegan", "TrialFinished", "TrialStarted"]


@dataclass(frozen=True, slots=True)
class RunBegan:
    """A run begins, or is gone on with: what is planned, the trials that were made ``earlier``, and ``notes``
    for people about that. ``run`` is its id, empty where it has none yet."""

    plan: Plan
    earlier: tuple[Trial, ...]
    notes: tuple[str, ...]
    run: str = ""


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial begins: the ``number``-th of ``total`` in the run's plan. Others may be running."""

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
OnBegin = Callable[[RunBegan], None]
