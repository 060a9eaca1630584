"""A run that was made, of which a report is to be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import anyio.to_thread

from ..badges import BadgeRule
from ..storage.store import Store, Totals
from ..storage.trial import Trial
from ..suites import Suite
from .journal import Journal
from .limits import RunLimits, ended_text
from .plan import Plan
from .report import ModelReport, ValidationReport
from .scheduler import Made

__all__ = ["MadeRun"]


@dataclass(frozen=True, slots=True)
class MadeRun:
    """What was ``made`` of ``plan``, now and earlier in the run of ``journal``; ``spent`` are US dollars."""

    plan: Plan
    journal: Journal
    made: Made
    threshold: float
    rule: BadgeRule
    limits: RunLimits
    spent: float

    async def report(self, store: Store) -> ValidationReport:
        """The report, with all trials of the run, the earlier ones first."""
        trials = self._by_row()
        rows = [(model, suite) for model in self.plan.models for suite in self.plan.suites]
        reports = [await self._row(store, trials.get((row[0], row[1].name), []), *row) for row in rows]
        report = ValidationReport(
            ", ".join(suite.name for suite in self.plan.suites),
            self.threshold,
            tuple(reports),
            (*store.notices, *self.journal.notes),
            rule=self.rule,
            ended=self.made.ended,
        )
        told = ended_text(self.made.ended, self.limits, self.spent, report.missing)
        return replace(report, notices=(*report.notices, told)) if told else report

    def _by_row(self) -> dict[tuple[str, str], list[Trial]]:
        """The trials of each model and suite, in the order of the plan."""
        rows: dict[tuple[str, str], list[Trial]] = {}
        for trial in sorted((*self.journal.earlier, *self.made.trials), key=lambda each: each.number):
            cell = self.plan.cell(trial.number)
            rows.setdefault((cell.model, cell.suite.name), []).append(trial)
        return rows

    async def _row(self, store: Store, found: list[Trial], model: str, suite: Suite) -> ModelReport:
        mark = found[-1].fingerprint if found else None
        totals = await anyio.to_thread.run_sync(store.totals, model, mark) if mark else Totals(0, 0)
        planned = self.plan.trials * len(suite.scenarios)
        error = self.made.failed.get(model)
        return ModelReport(model, tuple(found), totals, error, suite.name, planned)
