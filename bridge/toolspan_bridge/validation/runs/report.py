"""What a validation run came to, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BridgeError, ProviderError
from ...providers.prices import total_usd, usd_data
from ..badges import RULE, Badge, BadgeRule
from ..evidence.comparison import CellName, Comparison, compared
from ..evidence.counts import Counts
from ..evidence.weights import rounded, weighted_rate
from ..records import is_validated
from ..storage.store import Totals
from ..storage.trial import Trial
from ..wordings.choice import WordingChoice
from ..wordings.choosing import ways_of
from .limits import Ended

__all__ = ["EXIT_BELOW_THRESHOLD", "ModelReport", "ValidationReport"]

EXIT_BELOW_THRESHOLD = 6
_EXIT_LIMIT = 9
_EXIT_INTERRUPTED = 130

_ENOUGH = 0.9


@dataclass(frozen=True, slots=True)
class ModelReport:
    """One model with one suite in one run. ``totals`` counts all its runs of the suite under the same
    fingerprint. ``planned`` is how many trials there were to be, 0 where that is not known.

    ``error`` is what ended the model's trials early (no key, unreachable, no such model): nothing that would
    have been its own fault.
    """

    model_id: str
    trials: tuple[Trial, ...]
    totals: Totals
    error: BridgeError | None = None
    suite: str = ""
    planned: int = 0

    @property
    def counts(self) -> Counts:
        """This run's trials: those that came to an end, how many of them succeeded, and the errors."""
        return Counts.of(self.trials)

    @property
    def successes(self) -> int:
        """How many of this run's trials succeeded."""
        return self.counts.successes

    @property
    def rate(self) -> float:
        """The share of this run's trials that succeeded, errors left out, 0 … 1; 0 without a trial."""
        return self.counts.rate

    @property
    def missing(self) -> int:
        """How many of the planned trials have no outcome: they were not run, or ended by an error."""
        return max(0, self.planned - self.counts.n)

    @property
    def has_enough(self) -> bool:
        """Whether errors left enough outcomes for a verdict: one of each scenario that was tried, and of all
        nine in ten."""
        counts = self.counts
        scenarios = self.by_scenario().values()
        each = all(any(not trial.is_error for trial in trials) for trials in scenarios)
        return each and counts.n >= _ENOUGH * counts.tried

    @property
    def usd(self) -> float | None:
        """What this run cost in US dollars, errors left out; ``None`` where a trial's cost is not known."""
        return total_usd(trial.usd for trial in self.trials if not trial.is_error)

    @property
    def rescued(self) -> int:
        """How many calls of this run the model wrote as text."""
        return sum(trial.rescued for trial in self.trials)

    def by_scenario(self) -> dict[str, list[Trial]]:
        """This run's trials under their scenario's name, in the suite's order."""
        grouped: dict[str, list[Trial]] = {}
        for trial in self.trials:
            grouped.setdefault(trial.scenario, []).append(trial)
        return grouped


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """A whole run: one ``ModelReport`` for each model and suite, in the order asked for. ``ended`` is why not
    all of it was run, empty where it was; ``comparison`` is with an earlier report."""

    suite: str
    threshold: float
    models: tuple[ModelReport, ...]
    notices: tuple[str, ...] = ()
    choices: tuple[WordingChoice, ...] = ()
    rule: BadgeRule = RULE
    ended: Ended = ""
    comparison: Comparison | None = None

    @property
    def missing(self) -> int:
        """How many of the planned trials have no outcome."""
        return sum(model.missing for model in self.models)

    @property
    def passed(self) -> bool:
        """Whether every model was tried to the end and reached the threshold in this run; of a model for
        which a wording was chosen, the better of that and its native calls."""
        if self.ended or any(model.error or not model.has_enough for model in self.models):
            return False
        chosen = {way for choice in self.choices for way in ways_of([choice.model_id])}
        single = (model for model in self.models if model.model_id not in chosen)
        best = (max(choice.native, choice.chosen, key=lambda each: each.rate) for choice in self.choices)
        return all(self.reached(model) for model in single) and all(
            is_validated(each.success_count, each.test_count, self.threshold) for each in best
        )

    @property
    def exit_code(self) -> int:
        """0 when passed and nothing is worse than before. Else what is first true: the code of the error that
        ended a model's trials; 130 interrupted; 9 a limit ended the run; 1 errors of the provider left too
        few outcomes; 6 below the threshold, or worse."""
        for model in self.models:
            if model.error:
                return model.error.exit_code
        if self.ended:
            return _EXIT_INTERRUPTED if self.ended == "interrupted" else _EXIT_LIMIT
        if not all(model.has_enough for model in self.models):
            return ProviderError.exit_code
        worse = self.comparison is not None and bool(self.comparison.regressions)
        return 0 if self.passed and not worse else EXIT_BELOW_THRESHOLD

    def reached(self, model: ModelReport) -> bool:
        """Whether enough of ``model``'s trials in this run succeeded."""
        counts = model.counts
        return is_validated(counts.successes, counts.n, self.threshold)

    def badge(self, model: ModelReport) -> Badge:
        """What all runs of the suite under the same fingerprint prove about ``model``."""
        counts = Counts(model.totals.test_count, model.totals.success_count)
        return Badge(self.rule.status(counts), counts)

    def compared(self, before: Mapping[CellName, Counts]) -> Comparison:
        """This run's cells and those of an earlier report: each model and suite, and each scenario."""
        cells: dict[CellName, Counts] = {}
        for model in self.models:
            cells[model.model_id, model.suite, ""] = model.counts
            for scenario, trials in model.by_scenario().items():
                cells[model.model_id, model.suite, scenario] = Counts.of(trials)
        mine = {(model.model_id, model.suite) for model in self.models}
        return compared({name: each for name, each in before.items() if name[:2] in mine}, cells)

    def as_dict(self, records: Path | None = None) -> dict[str, Any]:
        """The report as JSON. ``records`` is the file that the records were exported to."""
        return {
            "suite": self.suite,
            "threshold": self.threshold,
            "passed": self.passed,
            "ended": self.ended or None,
            "missing": self.missing,
            "models": [self._model(model) for model in self.models],
            **({"wordings": [choice.as_dict() for choice in self.choices]} if self.choices else {}),
            **({"comparison": self.comparison.as_dict()} if self.comparison else {}),
            "notices": list(self.notices),
            "records": str(records) if records else None,
        }

    def _model(self, model: ModelReport) -> dict[str, Any]:
        error = {"code": model.error.code, "message": model.error.message} if model.error else None
        counts = model.counts
        return {
            "model_id": model.model_id,
            "suite": model.suite or self.suite,
            "passed": not model.error and model.has_enough and self.reached(model),
            "test_count": counts.n,
            "success_count": counts.successes,
            "error_count": counts.errors,
            "missing": model.missing,
            "rate": round(model.rate, 4),
            "weighted_rate": rounded(weighted_rate(model.trials)),
            "validated": self.badge(model).status == "validated",
            "badge": self.badge(model).as_dict(),
            "all_runs": {"test_count": model.totals.test_count, "success_count": model.totals.success_count},
            "cost": usd_data(model.usd),
            "rescued": model.rescued,
            "error": error,
            "scenarios": [_scenario(name, trials) for name, trials in model.by_scenario().items()],
        }


def _scenario(name: str, trials: Sequence[Trial]) -> dict[str, Any]:
    counts = Counts.of(trials)
    return {
        "scenario": name,
        "test_count": counts.n,
        "success_count": counts.successes,
        "error_count": counts.errors,
        "cost": usd_data(total_usd(trial.usd for trial in trials if not trial.is_error)),
        "rescued": sum(trial.rescued for trial in trials),
        "errors": [trial.error for trial in trials if not trial.success],
    }
