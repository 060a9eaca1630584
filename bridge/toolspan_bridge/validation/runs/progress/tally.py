"""How far a run is, counted from its events."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ...evidence.counts import Counts
from ...storage.trial import Trial
from ..events import Event, RunBegan, TrialFinished

__all__ = ["Row", "Tally"]


@dataclass(slots=True)
class Row:
    """One model with one suite: ``planned`` trials, and what came of them so far. ``usd`` is the known cost,
    ``None`` while no cost is known."""

    model_id: str
    suite: str
    planned: int
    successes: int = 0
    failures: int = 0
    errors: int = 0
    usd: float | None = None

    @property
    def done(self) -> int:
        """How many trials have ended."""
        return self.successes + self.failures + self.errors

    @property
    def counts(self) -> Counts:
        """The trials so far."""
        return Counts(self.successes + self.failures, self.successes, self.errors)

    def add(self, trial: Trial) -> None:
        """Count ``trial``."""
        self.errors += trial.is_error
        self.successes += trial.success and not trial.is_error
        self.failures += not (trial.success or trial.is_error)
        if trial.usd is not None:
            self.usd = (self.usd or 0.0) + trial.usd


@dataclass(slots=True)
class Tally:
    """All rows of a run, and how long it has taken. Without ``begin`` there is one row, for everything."""

    clock: Callable[[], float] = time.monotonic
    rows: dict[tuple[str, str], Row] = field(default_factory=dict[tuple[str, str], Row])
    running: dict[int, str] = field(default_factory=dict[int, str])
    _since: float = 0.0
    _before: int = 0
    _is_whole: bool = False

    def __post_init__(self) -> None:
        self._since = self.clock()

    def begin(self, began: RunBegan) -> None:
        """Count by the rows of the plan, with the trials that were made earlier."""
        plan = began.plan
        self._is_whole = True
        for model in plan.models:
            for suite in plan.suites:
                row = Row(model, suite.name, plan.trials * len(suite.scenarios))
                self.rows[model, suite.name] = row
        for trial in began.earlier:
            self._row(trial, trial.number).add(trial)
        self.measure()

    def add(self, event: Event) -> None:
        """Count what has happened."""
        if isinstance(event, TrialFinished):
            self.running.pop(event.number, None)
            self._row(event.trial, event.total).add(event.trial)
            return
        self.running[event.number] = f"{event.model_id}: {event.scenario}"
        if not self._is_whole:
            self.rows.setdefault(("", ""), Row("", "", event.total))

    def count(self, row: Row) -> None:
        """Count all trials of one model and suite anew, as ``row`` has them."""
        self.rows[row.model_id, row.suite] = replace(row, planned=self.rows[row.model_id, row.suite].planned)

    def measure(self) -> None:
        """Measure the pace from now on."""
        self._since, self._before = self.clock(), self.done

    @property
    def done(self) -> int:
        """How many trials have ended."""
        return sum(row.done for row in self.rows.values())

    @property
    def planned(self) -> int:
        """How many trials are planned."""
        return sum(row.planned for row in self.rows.values())

    @property
    def errors(self) -> int:
        """How many trials ended by an error."""
        return sum(row.errors for row in self.rows.values())

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at the pace so far; ``None`` before a trial has ended."""
        made = self.done - self._before
        return (self.clock() - self._since) / made * (self.planned - self.done) if made else None

    def _row(self, trial: Trial, total: int) -> Row:
        key = (trial.model_id, trial.suite) if self._is_whole else ("", "")
        return self.rows.setdefault(key, Row(*key, total))
