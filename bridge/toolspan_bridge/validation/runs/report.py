"""What a validation run came to, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BridgeError
from ...providers.prices import total_usd, usd_data
from ..badges import RULE, Badge, BadgeRule
from ..evidence.counts import Counts
from ..records import is_validated
from ..storage.store import Totals
from ..storage.trial import Trial
from ..wordings.choice import WordingChoice
from ..wordings.choosing import ways_of

__all__ = ["EXIT_BELOW_THRESHOLD", "ModelReport", "ValidationReport"]

EXIT_BELOW_THRESHOLD = 6


@dataclass(frozen=True, slots=True)
class ModelReport:
    """One model in one run. ``totals`` counts all its runs of the suite under the same fingerprint.

    ``error`` is what ended the model's run early (no key, unreachable, no such model): nothing that would
    have been its own fault.
    """

    model_id: str
    trials: tuple[Trial, ...]
    totals: Totals
    error: BridgeError | None = None

    @property
    def successes(self) -> int:
        """How many of this run's trials succeeded."""
        return sum(trial.success for trial in self.trials)

    @property
    def rate(self) -> float:
        """The share of this run's trials that succeeded, 0 … 1; 0 without a trial."""
        return self.successes / len(self.trials) if self.trials else 0.0

    @property
    def usd(self) -> float | None:
        """What this run cost in US dollars; ``None`` where a trial's cost is not known."""
        return total_usd(trial.usd for trial in self.trials)

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
    """A whole run: one ``ModelReport`` for each model, in the order asked for."""

    suite: str
    threshold: float
    models: tuple[ModelReport, ...]
    notices: tuple[str, ...] = ()
    choices: tuple[WordingChoice, ...] = ()
    rule: BadgeRule = RULE

    @property
    def passed(self) -> bool:
        """Whether every model was tried to the end and reached the threshold in this run; of a model for
        which a wording was chosen, the better of that and its native calls."""
        chosen = {way for choice in self.choices for way in ways_of([choice.model_id])}
        single = (model for model in self.models if model.model_id not in chosen)
        best = (max(choice.native, choice.chosen, key=lambda each: each.rate) for choice in self.choices)
        return all(not model.error and self.reached(model) for model in single) and all(
            is_validated(each.success_count, each.test_count, self.threshold) for each in best
        )

    @property
    def exit_code(self) -> int:
        """0 when passed; the code of the first error that ended a model's run; else 6."""
        for model in self.models:
            if model.error:
                return model.error.exit_code
        return 0 if self.passed else EXIT_BELOW_THRESHOLD

    def reached(self, model: ModelReport) -> bool:
        """Whether enough of ``model``'s trials in this run succeeded."""
        return is_validated(model.successes, len(model.trials), self.threshold)

    def badge(self, model: ModelReport) -> Badge:
        """What all runs of the suite under the same fingerprint prove about ``model``."""
        counts = Counts(model.totals.test_count, model.totals.success_count)
        return Badge(self.rule.status(counts), counts)

    def as_dict(self, records: Path | None = None) -> dict[str, Any]:
        """The report as JSON. ``records`` is the file that the records were exported to."""
        return {
            "suite": self.suite,
            "threshold": self.threshold,
            "passed": self.passed,
            "models": [self._model(model) for model in self.models],
            **({"wordings": [choice.as_dict() for choice in self.choices]} if self.choices else {}),
            "notices": list(self.notices),
            "records": str(records) if records else None,
        }

    def _model(self, model: ModelReport) -> dict[str, Any]:
        error = {"code": model.error.code, "message": model.error.message} if model.error else None
        return {
            "model_id": model.model_id,
            "passed": not model.error and self.reached(model),
            "test_count": len(model.trials),
            "success_count": model.successes,
            "rate": round(model.rate, 4),
            "validated": self.badge(model).status == "validated",
            "badge": self.badge(model).as_dict(),
            "all_runs": {"test_count": model.totals.test_count, "success_count": model.totals.success_count},
            "cost": usd_data(model.usd),
            "rescued": model.rescued,
            "error": error,
            "scenarios": [_scenario(name, trials) for name, trials in model.by_scenario().items()],
        }


def _scenario(name: str, trials: Sequence[Trial]) -> dict[str, Any]:
    return {
        "scenario": name,
        "test_count": len(trials),
        "success_count": sum(trial.success for trial in trials),
        "cost": usd_data(total_usd(trial.usd for trial in trials)),
        "rescued": sum(trial.rescued for trial in trials),
        "errors": [trial.error for trial in trials if not trial.success],
    }
