"""The tables that set models beside each other: the heat map, the figures, and what differs from a
baseline."""

from __future__ import annotations

from ...badges import badge_of
from ...evidence.comparison import Comparison
from ...evidence.counts import Counts
from ...evidence.records import Record
from ..contents import Contents
from .tags import Html, table, tag

__all__ = ["badge_html", "comparison_html", "figures_html", "heat_map_html", "share"]

_BUCKETS = (0.2, 0.5, 0.8, 0.95)


def heat_map_html(contents: Contents) -> Html:
    """Scenarios against models: of each cell the rate, its interval and the trials."""
    latest = contents.latest
    models = list(dict.fromkeys(record.model_id for record in latest))
    by_model = {(record.model_id, record.suite): record for record in latest}
    names = dict.fromkeys((each.suite, name) for each in latest for name in each.evidence.scenarios)
    rows = [
        (f"{suite} · {name}", *(_heat(by_model.get((model, suite)), name) for model in models))
        for suite, name in sorted(names, key=lambda each: each[0])
    ]
    return table("Success by scenario and model", ("Scenario", *models), rows, class_="heat")


def figures_html(contents: Contents) -> Html:
    """A row for each record."""
    heads = (
        "Model",
        "Suite",
        "Badge",
        "Interval of 95 %",
        "pass^k",
        "ms, p50",
        "p95",
        "Tokens a success",
        "$ a success",
    )
    return table("Figures", heads, [_figures(contents, record) for record in contents.records])


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
    return tag("span", badge.signed, class_=f"badge {badge.status}")


def share(counts: Counts) -> str:
    """As in ``3 of 4``."""
    return f"{counts.successes:,} of {counts.n:,}"


def _heat(record: Record | None, scenario: str) -> Html:
    counts = record.evidence.scenarios.get(scenario) if record else None
    if counts is None:
        return tag("td", "not tried", class_="none")
    bucket = sum(counts.rate >= least for least in _BUCKETS)
    low, high = (round(end * 100) for end in counts.interval)
    percent = counts.successes * 100 // counts.n
    return tag("td", f"{percent} %", Html("<br>"), f"{share(counts)}, {low}–{high} %", class_=f"r{bucket}")


def _figures(contents: Contents, record: Record) -> tuple[str | Html, ...]:
    evidence = record.evidence
    k = max(evidence.consistency, default=0)
    steady = f"{float(evidence.consistency[k]) * 100:.0f} % (k={k})" if k else ""
    tokens, usd = evidence.tokens_per_success, evidence.usd_per_success
    return (
        record.model_id,
        record.suite,
        badge_html(contents, record),
        _bar(record.counts, contents.rule.threshold),
        steady,
        str(evidence.latency_ms.get(50, "")),
        str(evidence.latency_ms.get(95, "")),
        "" if tokens is None else f"{tokens:,.0f}",
        "" if usd is None else f"{usd:.6f}",
    )


def _bar(counts: Counts, threshold: float) -> Html:
    """The interval as a line from 0 to 100 %, with the rate and the threshold."""
    low = f"{counts.interval.low * 120:.1f}"
    rate, limit = f"{counts.rate * 120:.1f}", f"{threshold * 120:.1f}"
    width = f"{(counts.interval.high - counts.interval.low) * 120:.1f}"
    return Html(
        f'<svg width="124" height="16" viewBox="-2 0 124 16" role="img" aria-label="{counts.text}">'
        '<rect x="0" y="7" width="120" height="2" fill="currentColor" opacity=".3"/>'
        f'<rect x="{low}" y="5" width="{width}" height="6" fill="currentColor" opacity=".6"/>'
        f'<circle cx="{rate}" cy="8" r="4" fill="currentColor"/>'
        f'<line x1="{limit}" x2="{limit}" y1="0" y2="16" stroke="currentColor" stroke-dasharray="2 2"/>'
        f"<title>{counts.text}; the dashed line is the threshold</title></svg>"
    )
