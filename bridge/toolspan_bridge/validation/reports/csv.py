"""The report as comma-separated values: one row for each record, scenario, tool and tag."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from toolspan_server.common.visible import visible_line

from ..badges import badge_of
from ..evidence.counts import Counts
from ..evidence.records import Record
from .contents import Contents

__all__ = ["HEADS", "render", "safe"]

HEADS = (
    "model",
    "suite",
    "kind",
    "name",
    "n",
    "successes",
    "errors",
    "rate",
    "low",
    "high",
    "badge",
    "last_tested",
    "tokens_per_success",
    "usd_per_success",
)
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "|", "%")


def render(contents: Contents) -> str:
    """The report as text. No cell begins as a formula of a spreadsheet does: such text has an apostrophe
    before."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(HEADS)
    for record in contents.records:
        for row in _rows(contents, record):
            writer.writerow([safe(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def safe(text: str) -> str:
    """``text`` on one line, as a cell that no spreadsheet takes for a formula."""
    line = visible_line(text)
    return f"'{line}" if line.lstrip(" \u00a0").startswith(_FORMULA) else line


def _rows(contents: Contents, record: Record) -> Iterator[list[str | int | float | None]]:
    of = [record.model_id, record.suite]
    evidence, badge = record.evidence, badge_of(record, contents.rule)
    figures = [badge.status, record.last_tested, evidence.tokens_per_success, evidence.usd_per_success]
    yield [*of, "record", "", *_counts(record.counts), *figures]
    for kind, cells in (("scenario", evidence.scenarios), ("tool", evidence.tools), ("tag", evidence.tags)):
        for name, counts in cells.items():
            yield [*of, kind, name, *_counts(counts), "", "", "", ""]


def _counts(counts: Counts) -> list[int | float]:
    rates = (round(rate, 6) for rate in (counts.rate, *counts.interval))
    return [counts.n, counts.successes, counts.errors, *rates]
