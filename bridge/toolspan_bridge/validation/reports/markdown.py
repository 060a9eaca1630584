"""The report as Markdown, for the comment of a pull request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from toolspan_server.common.visible import visible_line

from ..badges import badge_of
from ..evidence.comparison import Cell, Comparison
from .contents import Contents

__all__ = ["badge_line", "literal", "render"]

_MOST_REASONS = 20
_MOST_CHARACTERS = 300
_PLAIN = re.compile("[^A-Za-z0-9 ,/()%=\u00a1-\U0010ffff-]")


def render(contents: Contents) -> str:
    """The report as text: a table of the records, what differs from the baseline, and why trials failed."""
    lines = ["## Validation of models", "", *_records(contents)]
    if contents.comparison:
        lines += ["", *_compared(contents.comparison)]
    for head, errors in (("Failures", False), ("Errors of providers, which count for no model", True)):
        if reasons := list(_reasons(contents, errors=errors)):
            lines += ["", f"<details><summary>{head}</summary>", "", *reasons, "", "</details>"]
    return "\n".join(lines) + "\n"


def badge_line(contents: Contents) -> str:
    """A line with the badge of each record."""
    return "".join(
        f"{badge.sign} {literal(record.model_id)} {badge.text}  \n"
        for record in contents.records
        for badge in [badge_of(record, contents.rule)]
    )


def literal(text: str) -> str:
    """``text`` as code, in which nothing is a link, a mention, a tag, a column or any other markup."""
    shown = _PLAIN.sub(lambda found: f"&#{ord(found[0])};", visible_line(text))
    return f"<code>{shown}</code>"


def _records(contents: Contents) -> Iterator[str]:
    yield from _table_head("Model", "Suite", "Badge", "Errors", "Flaky", "Last tested")
    for record in contents.records:
        flaky = str(len(record.evidence.flaky)) if record.evidence.flaky else ""
        errors = f"{record.counts.errors:,}" if record.counts.errors else ""
        badge = badge_of(record, contents.rule).signed
        of = (literal(record.model_id), literal(record.suite))
        yield _row(*of, badge, errors, flaky, record.last_tested)


def _compared(comparison: Comparison) -> Iterator[str]:
    changed = [*comparison.regressions, *comparison.improvements]
    if not changed:
        yield f"No change by more than chance in {len(comparison.cells)} cells."
        return
    yield from _table_head("", "Model", "Suite", "Scenario", "Before", "Now", "p, corrected")
    for cell in changed:
        yield _row(*_cell(cell))


def _cell(cell: Cell) -> Sequence[str]:
    model, suite, scenario = cell.name
    sign = "▼ worse" if cell.change == "worse" else "▲ better"
    name = literal(scenario) if scenario else "all"
    p = f"{float(cell.corrected):.4f}"
    return (sign, literal(model), literal(suite), name, cell.before.text, cell.now.text, p)


def _reasons(contents: Contents, *, errors: bool) -> Iterator[str]:
    """Why trials of the latest records failed, or ended by an error: each reason once, the commonest
    first."""
    counted = Counter[tuple[str, str, str]]()
    for record in contents.latest:
        found = record.evidence.errors if errors else record.evidence.failures
        for (scenario, reason), count in found.items():
            counted[record.model_id, scenario, reason] += count
    for (model, scenario, reason), count in counted.most_common(_MOST_REASONS):
        times = f" ({count:,} ×)" if count > 1 else ""
        shown = visible_line(reason)
        short = shown if len(shown) <= _MOST_CHARACTERS else f"{shown[:_MOST_CHARACTERS]}…"
        yield f"- {literal(model)} {literal(scenario)}: {literal(short)}{times}"
    if len(counted) > _MOST_REASONS:
        yield f"- and {len(counted) - _MOST_REASONS:,} more"


def _table_head(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return f"| {' | '.join(_joined(cells))} |"


def _joined(cells: Iterable[str]) -> Iterator[str]:
    return (cell.replace("\n", " ") for cell in cells)
