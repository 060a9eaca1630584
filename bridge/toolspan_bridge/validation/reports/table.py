"""The report as a table for people, and what stands out in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from toolspan_server.common.visible import visible_line

from ...providers.prices import usd_text
from ..badges import badge_of
from ..evidence.comparison import Comparison
from ..evidence.records import Record
from .contents import Contents
from .words import share

__all__ = ["lines", "render"]

_GAP = 2
_PLAIN = ("suite", "scenario", "change", "badge")
"""What is understood without its head."""
_Cell = Callable[[Record], str]


def render(contents: Contents) -> str:
    """The report as text, each record on a line, however long."""
    return "".join(f"{line}\n" for line in lines(contents))


def lines(contents: Contents, width: int | None = None) -> list[str]:
    """The report's lines: the records, their mistakes, and what differs from the baseline. Where a table is
    wider than ``width`` columns of a terminal, each of its rows is a few lines instead."""
    columns = _columns(contents)
    rows = [[cell(record) for cell in columns.values()] for record in contents.records]
    found = _table(list(columns), rows, width)
    found += [visible_line(line) for record in contents.latest for line in _mistakes(record)]
    if contents.comparison:
        found += _compared(contents.comparison, width)
    return found


def _columns(contents: Contents) -> dict[str, _Cell]:
    """What is told of each record; what none has is left out."""
    records = contents.records
    columns: dict[str, _Cell] = {
        "model": lambda record: record.model_id,
        "suite": lambda record: record.suite,
        "successes": lambda record: share(record.counts),
    }
    if any(record.counts.errors for record in records):
        columns["errors"] = lambda record: f"{record.counts.errors:,}"
    if any(record.figures.rescued for record in records):
        columns["rescued"] = lambda record: f"{record.figures.rescued:,}"
    if any(record.figures.usd for record in records):
        columns["cost"] = lambda record: usd_text(record.figures.usd)
    columns["last tested (UTC)"] = lambda record: record.last_tested[:16].replace("T", " ")
    columns["badge"] = lambda record: badge_of(record, contents.rule).signed
    return columns


def _mistakes(record: Record) -> Iterator[str]:
    """Flaky scenarios, where another tool was called than the expected one, and why providers failed."""
    of = f"{record.model_id}, {record.suite}"
    if record.flaky:
        yield f"{of}: flaky: {', '.join(record.flaky)}"
    for (expected, called), count in sorted(record.figures.confusion.items()):
        if expected != called:
            yield f"{of}: called {called or 'no tool'} for {expected or 'no tool'}, {count:,} ×"
    reasons = Counter[str]()
    for (_, reason), count in record.evidence.errors.items():
        reasons[reason] += count
    for reason, count in reasons.items():
        yield f"{of}: error, {count:,} ×: {reason}"


def _compared(comparison: Comparison, width: int | None) -> list[str]:
    changed = [*comparison.regressions, *comparison.improvements]
    if not changed:
        return [f"baseline: no change by more than chance in {len(comparison.cells)} cells"]
    rows = [
        [
            *cell.name[:2],
            cell.name[2] or "all",
            cell.change,
            cell.before.text,
            cell.now.text,
            f"{float(cell.corrected):.4f}",
        ]
        for cell in changed
    ]
    return _table(["model", "suite", "scenario", "change", "before", "now", "p, corrected"], rows, width)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], width: int | None) -> list[str]:
    from rich.cells import cell_len

    cells = [[visible_line(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(heads, *cells, strict=True)]
    if width is not None and sum(widths) + _GAP * (len(widths) - 1) > width:
        return [line for row in cells for line in _stacked(dict(zip(heads, row, strict=True)), width)]
    padded = (
        "".join(cell + " " * (most - cell_len(cell) + _GAP) for cell, most in zip(row, widths, strict=True))
        for row in (heads, *cells)
    )
    return [line.rstrip() for line in padded]


def _stacked(row: Mapping[str, str], width: int) -> list[str]:
    """A row on lines of its own: the model, then what is told of it."""
    from rich.cells import cell_len

    told = [
        cell if name in ("suite", "badge") else f"{name} {cell}"
        for name, cell in row.items()
        if name != "model"
    ]
    found, line = [row["model"]], ""
    for part in told:
        joined = f"{line} · {part}" if line else f"  {part}"
        if line and cell_len(joined) > width:
            found.append(line)
            joined = f"  {part}"
        line = joined
    return [*found, line]
