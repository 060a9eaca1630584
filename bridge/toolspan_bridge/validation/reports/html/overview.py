"""What the page begins with: a row for each record, and what differs from a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ...badges import badge_of
from ...evidence.comparison import Comparison
from ...evidence.counts import Counts
from ...evidence.records import Record
from ..contents import Contents
from .anchors import Anchors
from .tags import Html, breakable, table, tag, text

__all__ = ["badge_html", "comparison_html", "figures_html", "verdict_html"]

_STATUSES = ("validated", "provisional", "failed", "untested", "stale")
_BAR = 120


def verdict_html(contents: Contents) -> Html:
    """How many records have which badge."""
    counted: Counter[str] = Counter(badge_of(record, contents.rule).status for record in contents.records)
    if not counted:
        return tag("p", "There is no record.")
    told = ", ".join(f"{counted[status]:,} {status}" for status in _STATUSES if counted[status])
    total = sum(counted.values())
    return tag("p", tag("strong", f"{total:,} record{'' if total == 1 else 's'}"), f": {told}.")


def figures_html(contents: Contents, anchors: Anchors) -> Html:
    """A row for each record, which leads to its section."""
    any_errors = any(record.counts.errors for record in contents.records)
    any_weights = any(record.evidence.weighted_rate is not None for record in contents.records)
    columns = {**(_ERRORS if any_errors else {}), **(_WEIGHTED if any_weights else {}), **_COLUMNS}
    rows = [
        (
            anchors.link(record, breakable(record.model_id)),
            record.suite,
            badge_html(contents, record),
            _bar(record.counts, contents.rule.threshold),
            *(tag("td", cell(record), class_="number") for cell in columns.values()),
        )
        for record in contents.records
    ]
    heads = ("Model", "Suite", "Badge", "Interval of 95 %", *columns)
    return table("Records", heads, rows, class_="figures")


def comparison_html(comparison: Comparison) -> Html:
    """The cells that changed by more than chance."""
    changed = [*comparison.regressions, *comparison.improvements]
    if not changed:
        return tag("p", f"No change by more than chance in {len(comparison.cells)} cells.")
    rows = [
        (
            cell.name[0],
            cell.name[1],
            cell.name[2] or "all",
            tag("span", "▼ worse" if cell.change == "worse" else "▲ better", class_=cell.change),
            cell.before.text,
            cell.now.text,
            f"{float(cell.corrected):.4f}",
        )
        for cell in changed
    ]
    heads = ("Model", "Suite", "Scenario", "Change", "Before", "Now", "p, corrected")
    return table("Changes by more than chance", heads, rows)


def badge_html(contents: Contents, record: Record) -> Html:
    """A record's badge in its colour."""
    badge = badge_of(record, contents.rule)
    signed = Html(text(badge.signed).replace(" %", "&nbsp;%"))
    return tag("span", signed, class_=f"badge {badge.status}")


def _steady(record: Record) -> str:
    consistency = record.evidence.consistency
    k = max(consistency, default=0)
    return f"{float(consistency[k]) * 100:.0f} % (k={k})" if k else ""


def _milliseconds(record: Record, percentile: int) -> str:
    found = record.evidence.latency_ms.get(percentile)
    return "" if found is None else f"{found:,}"


def _given(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


_Columns = Mapping[str, Callable[[Record], str]]
_ERRORS: _Columns = {"Errors": lambda record: f"{record.counts.errors:,}"}
_WEIGHTED: _Columns = {"Weighted rate": lambda record: _given(record.evidence.weighted_rate, ".1%")}
_COLUMNS: _Columns = {
    "pass^k": _steady,
    "ms, p50": lambda record: _milliseconds(record, 50),
    "ms, p95": lambda record: _milliseconds(record, 95),
    "Tokens a success": lambda record: _given(record.evidence.tokens_per_success, ",.0f"),
    "$ a success": lambda record: _given(record.evidence.usd_per_success, ".6f"),
}


def _bar(counts: Counts, threshold: float) -> Html:
    """The interval as a line from 0 to 100 %, with the rate and the threshold."""
    low = f"{counts.interval.low * _BAR:.1f}"
    rate, limit = f"{counts.rate * _BAR:.1f}", f"{threshold * _BAR:.1f}"
    width = f"{(counts.interval.high - counts.interval.low) * _BAR:.1f}"
    dot = f'<circle cx="{rate}" cy="8" r="4" fill="currentColor"/>' if counts.n else ""
    return Html(
        f'<svg width="124" height="16" viewBox="-2 0 124 16" role="img" aria-label="{counts.text}">'
        f'<rect x="0" y="7" width="{_BAR}" height="2" fill="currentColor" opacity=".3"/>'
        f'<rect x="{low}" y="5" width="{width}" height="6" fill="currentColor" opacity=".6"/>{dot}'
        f'<line x1="{limit}" x2="{limit}" y1="0" y2="16" stroke="currentColor" stroke-dasharray="2 2"/>'
        f"<title>{counts.text}; the dashed line is the threshold</title></svg>"
    )
