"""What ends a run before its plan is done: a person, a cost, a time."""

from __future__ import annotations

import math
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

import anyio

from ...loop.limits import Spending
from ...providers.prices import usd_text

__all__ = ["Budget", "Ended", "RunLimits", "Stop", "duration_text", "ended_text", "limit_words", "paying"]

Ended = Literal["", "interrupted", "max_cost", "max_time"]
"""Why no more trials were begun; empty where the plan was done."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """All requests cost ``usd`` US dollars at most; after ``seconds`` no trial is begun, and those that run
    are given up. ``None`` is no limit."""

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

    ``spending`` is what the requests of all trials are paid from.
    """

    def __init__(self, limits: RunLimits, stop: Stop) -> None:
        self._limits = limits
        self._stop = stop
        # An answer is never shortened to what is left: its trial would fail.
        self.spending = Spending(limits.usd, *limit_words(limits.usd), shortens=False)
        self._known = 0.0
        self.deadline = math.inf if limits.seconds is None else anyio.current_time() + limits.seconds

    @property
    def ended(self) -> Ended:
        """Why no further trial may begin; empty while one may."""
        if self._stop.is_asked:
            return "interrupted"
        if anyio.current_time() >= self.deadline:
            return "max_time"
        most = math.inf if self._limits.usd is None else self._limits.usd
        return "max_cost" if self.spending.is_over or self.spent >= most else ""

    @property
    def spent(self) -> float:
        """The US dollars that were spent; a request whose cost is not known counts with the most it may have
        cost, where there is a limit."""
        return max(self._known, self.spending.spent)

    def finished(self, usd: float | None) -> None:
        """A trial has ended, and cost so much; ``None`` is not known."""
        self._known += usd or 0.0


def limit_words(usd: float | None) -> tuple[str, str]:
    """The limit of a run's cost for people, and what may be written in its place."""
    otherwise = "leave it out (--trials and --max-time limit a run too)"
    return f"--max-cost {usd_text(usd or 0.0)}", otherwise


paying: ContextVar[Spending | None] = ContextVar("paying", default=None)
"""What the trial that runs here is paid from, for those who ask for it."""


def ended_text(ended: Ended, limits: RunLimits, spent: float, missing: int) -> str:
    """What is said of a run that ended early."""
    left = f"{missing:,} trial{' was' if missing == 1 else 's were'} not run"
    match ended:
        case "max_cost":
            is_spent = spent >= (limits.usd or 0.0)
            what = "was reached" if is_spent else "leaves no room for the next request"
            return f"--max-cost {usd_text(limits.usd)} {what} ({usd_text(spent)} spent): {left}"
        case "max_time":
            return f"--max-time {duration_text(limits.seconds or 0)} was reached: {left}"
        case "interrupted":
            return f"interrupted: {left}"
        case "":
            return ""


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
