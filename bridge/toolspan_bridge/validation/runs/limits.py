"""What ends a run before its plan is done: a person, a cost, a time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import anyio

from ...providers.prices import usd_text

__all__ = ["Budget", "Ended", "RunLimits", "Stop", "duration_text", "ended_text", "unpriced_text"]

Ended = Literal["", "interrupted", "max_cost", "max_time"]
"""Why no more trials were begun; empty where the plan was done."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """From ``usd`` US dollars on no trial is begun; after ``seconds`` none is, and those that run are given
    up. ``None`` is no limit."""

    usd: float | None = None
    seconds: float | None = None


class Stop:
    """Ends a run from outside: no trial is begun after ``now``; those that run go on to their end."""

    def __init__(self) -> None:
        self._asked = False

    def now(self) -> None:
        """Begin no more trials."""
        self._asked = True

    @property
    def is_asked(self) -> bool:
        """Whether ``now`` was called."""
        return self._asked


class Budget:
    """What a run may still spend, from now on: ``limits``, and the person's ``stop``.

    The cost of trials that are running is taken to be the mean of those that ended, so that a limit is
    passed by little however many run at the same time. What a trial of unknown price costs is not counted.
    """

    def __init__(self, limits: RunLimits, stop: Stop) -> None:
        self._limits = limits
        self._stop = stop
        self._running = 0
        self._known = 0
        self.spent = 0.0
        self.deadline = math.inf if limits.seconds is None else anyio.current_time() + limits.seconds

    @property
    def ended(self) -> Ended:
        """Why no further trial may begin; empty while one may."""
        if self._stop.is_asked:
            return "interrupted"
        if anyio.current_time() >= self.deadline:
            return "max_time"
        if self._limits.usd is None:
            return ""
        mean = self.spent / self._known if self._known else 0.0
        return "max_cost" if self.spent + self._running * mean >= self._limits.usd else ""

    def began(self) -> None:
        """A trial has begun."""
        self._running += 1

    def finished(self, usd: float | None) -> None:
        """A trial has ended, and cost so much; ``None`` is not known."""
        self._running -= 1
        if usd is not None:
            self.spent += usd
            self._known += 1


def ended_text(ended: Ended, limits: RunLimits, spent: float, missing: int) -> str:
    """What is said of a run that ended early."""
    left = f"{missing:,} trial{' was' if missing == 1 else 's were'} not run"
    match ended:
        case "max_cost":
            return f"--max-cost {usd_text(limits.usd)} was reached ({usd_text(spent)} spent): {left}"
        case "max_time":
            return f"--max-time {duration_text(limits.seconds or 0)} was reached: {left}"
        case "interrupted":
            return f"interrupted: {left}"
        case "":
            return ""


def unpriced_text(models: Iterable[str]) -> str:
    """What is said of models whose cost is not known, under a limit of cost; empty where there are none."""
    named = ", ".join(models)
    return f"no price is known of {named}: --max-cost does not count what they cost" if named else ""


_HOUR, _MINUTE, _ROUGHLY = 3_600, 60, 600


def duration_text(seconds: float) -> str:
    """Seconds for people: ``45 s``, ``9 min 5 s``, ``2 h 3 min``."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        if whole >= _ROUGHLY:
            return f"{round(whole / _MINUTE)} min"
        minutes, rest = divmod(whole, _MINUTE)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(whole // _MINUTE, _MINUTE)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
