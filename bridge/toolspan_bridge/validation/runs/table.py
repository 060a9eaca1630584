"""A report as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from toolspan_server.common.visible import visible_line

from ...providers.prices import has_prices, total_usd, usd_text
from ..evidence.counts import Counts
from ..evidence.weights import weighted_rate
from ..storage.trial import Trial
from ..wordings.choice import WordingChoice
from .report import ModelReport, ValidationReport

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["print_report"]

_MARKS = 20


def print_report(report: ValidationReport, file: IO[str], records: Path | None = None) -> None:
    """Print a table for each model, why its trials failed, and where the records are (``records``)."""
    from rich.console import Console

    console = Console(file=file, highlight=False, markup=False, emoji=False)
    for model in report.models:
        if model.trials:
            suite = model.suite or report.suite
            console.print(visible_line(f"{model.model_id}, suite {suite}"), soft_wrap=True)
            console.print(_table(report, model))
            console.print(report.badge(model).signed, soft_wrap=True)
            if (weighted := weighted_rate(model.trials)) is not None:
                console.print(f"{weighted * 100:.0f} % by the scenarios' weights", soft_wrap=True)
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
        marks = "".join(map(_mark, trials))
        shown = marks if len(marks) <= _MARKS else f"{marks[:_MARKS]}…"
        table.add_row(Text(visible_line(name)), shown, *(cell(trials) for cell in measured.values()))
    return table


def _mark(trial: Trial) -> str:
    return "!" if trial.is_error else "✓" if trial.success else "✗"


def _choice_table(choice: WordingChoice) -> Table:
    from rich.table import Table

    table = Table()
    table.add_column("way")
    for head in ("successes", "rate", "tokens"):
        table.add_column(head, justify="right")
    native = {f"native calls, {name}": way for name, way in choice.renderings.items()}
    best = {f"native calls, {choice.rendering}", choice.wording}
    for name, way in {**(native or {"native calls": choice.native}), **choice.measured}.items():
        rate = _percent(way.success_count, way.test_count)
        chosen = f"{name} (chosen)" if name in best else name
        table.add_row(chosen, way.text, rate, f"{way.tokens:,}")
    return table


_Cell = Callable[[Sequence[Trial]], str]


def _columns(model: ModelReport) -> dict[str, _Cell]:
    """What is shown of a scenario's trials, and of all: calls written as text where there are any, and the
    cost where the provider's prices may be known."""
    columns: dict[str, _Cell] = {
        "successes": lambda trials: f"{_counted(trials).successes}/{_counted(trials).n}",
        "rate": lambda trials: _percent(_counted(trials).successes, _counted(trials).n),
    }
    if model.counts.errors:
        columns["errors"] = lambda trials: str(_counted(trials).errors)
    if model.rescued:
        columns["rescued"] = lambda trials: str(sum(trial.rescued for trial in trials))
    if any(has_prices(str(trial.details.get("provider"))) for trial in model.trials):
        columns["cost"] = lambda trials: usd_text(
            total_usd(trial.usd for trial in trials if not trial.is_error)
        )
    return columns


_counted = Counts.of


def _failures(model: ModelReport) -> Iterator[str]:
    unsuccessful = (trial for trial in model.trials if not trial.success)
    reasons = Counter((_mark(trial), trial.scenario, trial.error) for trial in unsuccessful)
    for (mark, scenario, error), count in reasons.items():
        times = f" ({count} times)" if count > 1 else ""
        yield visible_line(f"  {mark} {scenario}: {error}{times}")
    if model.error:
        yield visible_line(f"  ✗ {model.model_id} was not tried to the end: {model.error.message}")
    elif not model.has_enough:
        left = f"errors left too few outcomes, {model.counts.n:,} of {len(model.trials):,}"
        yield visible_line(f"  ! {model.model_id}: {left} (the same command tries the others again)")


def _percent(part: int, whole: int) -> str:
    """Rounded down, so that nothing below a threshold looks like it."""
    if not whole:
        return "–"
    return f"{part * 1000 // whole / 10:g} %"
