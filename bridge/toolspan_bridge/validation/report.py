"""What a validation run came to: as data, as a table, and while it runs as a progress bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from toolspan_server.common.visible import visible_line

from ..errors import BridgeError
from ..providers.prices import has_prices, total_usd, usd_data, usd_text
from .badges import RULE, Badge, BadgeRule
from .evidence.counts import Counts
from .records import is_validated
from .storage.store import Totals
from .storage.trial import Trial
from .wordings.choice import WordingChoice
from .wordings.choosing import ways_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

EXIT_BELOW_THRESHOLD = 6

_MARKS = 20


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


def print_report(report: ValidationReport, file: IO[str], records: Path | None = None) -> None:
    """Print a table for each model, why its trials failed, and where the records are (``records``)."""
    from rich.console import Console

    console = Console(file=file, highlight=False, markup=False, emoji=False)
    for model in report.models:
        if model.trials:
            console.print(visible_line(f"{model.model_id}, suite {report.suite}"), soft_wrap=True)
            console.print(_table(report, model))
            console.print(report.badge(model).signed, soft_wrap=True)
        for line in _failures(model):
            console.print(line, soft_wrap=True)
    for choice in report.choices:
        console.print(visible_line(f"{choice.model_id}, its ways to call tools"), soft_wrap=True)
        console.print(_choice_table(choice))
        console.print(visible_line(choice.text), soft_wrap=True)
    for notice in report.notices:
        console.print(visible_line(f"note: {notice}"), soft_wrap=True)
    if records:
        console.print(visible_line(f"records: {records}"), soft_wrap=True)


def _table(report: ValidationReport, model: ModelReport) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(show_footer=True)
    outcome = "passed" if report.reached(model) else "below the threshold"
    table.add_column("scenario", footer=f"{outcome} ({report.threshold * 100:g} %)")
    table.add_column("trials")
    measured = _columns(model)
    for head, cell in measured.items():
        table.add_column(head, justify="right", footer=cell(model.trials))
    for name, trials in model.by_scenario().items():
        marks = "".join("✓" if trial.success else "✗" for trial in trials)
        shown = marks if len(marks) <= _MARKS else f"{marks[:_MARKS]}…"
        table.add_row(Text(visible_line(name)), shown, *(cell(trials) for cell in measured.values()))
    return table


def _choice_table(choice: WordingChoice) -> Table:
    from rich.table import Table

    table = Table()
    table.add_column("way")
    for head in ("successes", "rate", "tokens"):
        table.add_column(head, justify="right")
    for name, way in {"native calls": choice.native, **choice.measured}.items():
        rate = _percent(way.success_count, way.test_count)
        chosen = f"{name} (chosen)" if name == choice.wording else name
        table.add_row(chosen, way.text, rate, f"{way.tokens:,}")
    return table


_Cell = Callable[[Sequence[Trial]], str]


def _columns(model: ModelReport) -> dict[str, _Cell]:
    """What is shown of a scenario's trials, and of all: calls written as text where there are any, and the
    cost where the provider's prices may be known."""
    columns: dict[str, _Cell] = {
        "successes": lambda trials: f"{_successes(trials)}/{len(trials)}",
        "rate": lambda trials: _percent(_successes(trials), len(trials)),
    }
    if model.rescued:
        columns["rescued"] = lambda trials: str(sum(trial.rescued for trial in trials))
    if any(has_prices(str(trial.details.get("provider"))) for trial in model.trials):
        columns["cost"] = lambda trials: usd_text(total_usd(trial.usd for trial in trials))
    return columns


def _successes(trials: Sequence[Trial]) -> int:
    return sum(trial.success for trial in trials)


def _failures(model: ModelReport) -> Iterator[str]:
    reasons = Counter((trial.scenario, trial.error) for trial in model.trials if not trial.success)
    for (scenario, error), count in reasons.items():
        times = f" ({count} times)" if count > 1 else ""
        yield visible_line(f"  ✗ {scenario}: {error}{times}")
    if model.error:
        yield visible_line(f"  ✗ {model.model_id} was not tried to the end: {model.error.message}")


def _percent(part: int, whole: int) -> str:
    """Rounded down, so that nothing below a threshold looks like it."""
    return f"{part * 1000 // whole / 10:g} %"


@contextmanager
def progress(file: IO[str]) -> Generator[OnEvent]:
    """A progress bar on ``file`` while the block runs, fed by the events; nothing where it is no terminal."""
    from rich.console import Console

    if not file.isatty():
        yield lambda event: None
        return
    with _bar(Console(file=file, highlight=False, markup=False, emoji=False)) as on_event:
        yield on_event


@contextmanager
def _bar(console: Console) -> Generator[OnEvent]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def on_event(event: Event) -> None:
            if isinstance(event, TrialStarted):
                words = visible_line(f"{event.model_id}: {event.scenario}")
                bar.update(task, total=event.total, completed=event.number - 1, description=words)
            else:
                bar.update(task, completed=event.number)

        yield on_event
