"""A run's progress on a terminal: a table of models and suites that fills, and what runs now."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from toolspan_server.common.visible import visible_line

from ....providers.prices import usd_text
from .lines import line_of
from .tally import Row, Tally

__all__ = ["live"]

_REFRESHES = 4
_NARROW = 64
_BAR = 16
_AROUND = 6
"""The lines that a table needs beside its rows, with the line under it."""


def live(console: Console, tally: Tally) -> AbstractContextManager[object]:
    """Draws ``tally`` on ``console`` while the block runs, and leaves nothing behind."""
    return Live(
        get_renderable=lambda: _drawn(console, tally),
        console=console,
        refresh_per_second=_REFRESHES,
        transient=True,
    )


def _drawn(console: Console, tally: Tally) -> RenderableType:
    table = Table(pad_edge=False, expand=False)
    narrow = console.width < _NARROW
    table.add_column("model", no_wrap=True, overflow="ellipsis", ratio=2)
    if not narrow:
        table.add_column("suite", no_wrap=True, overflow="ellipsis", ratio=1)
        table.add_column("", no_wrap=True, min_width=_BAR)
    for head in ("done", "rate") if narrow else ("done", "rate", "errors", "cost"):
        table.add_column(head, justify="right", no_wrap=True)
    rows = [row for row in tally.rows.values() if row.model_id]
    shown, hidden = _fitting(rows, max(1, console.height - _AROUND))
    for row in shown:
        table.add_row(*_cells(row, narrow=narrow))
    below = [Text(f"… and {hidden:,} more rows")] if hidden else []
    return Group(*([table] if rows else []), *below, _status(console, tally))


def _fitting(rows: list[Row], most: int) -> tuple[list[Row], int]:
    """The rows that fit: of too many, those that are not done first."""
    if len(rows) <= most:
        return rows, 0
    at_work = [row for row in rows if row.done < row.planned]
    chosen = (at_work + [row for row in rows if row.done >= row.planned])[: most - 1]
    return [row for row in rows if row in chosen], len(rows) - len(chosen)


def _cells(row: Row, *, narrow: bool) -> list[Text]:
    counts = row.counts
    rate = f"{counts.successes * 100 // counts.n} %" if counts.n else ""
    done = f"{row.done:,}/{row.planned:,}"
    if narrow:
        return [Text(visible_line(text)) for text in (row.model_id, done, rate)]
    filled = _BAR * row.done // row.planned if row.planned else _BAR
    bar = "█" * filled + "░" * (_BAR - filled)
    errors = f"{row.errors:,}" if row.errors else ""
    cost = "" if row.usd is None else usd_text(row.usd)
    return [Text(visible_line(text)) for text in (row.model_id, row.suite, bar, done, rate, errors, cost)]


def _status(console: Console, tally: Tally) -> Text:
    """How far all is, and one of the trials that run: one line."""
    running = list(tally.running.values())
    now = ""
    if running:
        others = f" and {len(running) - 1:,} others" if len(running) > 1 else ""
        now = f"; {running[0]}{others}"
    status = Text(visible_line(f"{line_of(tally)}{now}"), no_wrap=True, overflow="ellipsis")
    status.truncate(max(1, console.width - 1), overflow="ellipsis")
    return status
