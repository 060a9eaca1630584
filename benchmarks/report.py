"""The figures as text for a terminal, and as Markdown for docs/explanation/benchmarks.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from .processes import ROOT
from .run import MEASURES, Figures, Plan
from .servers import Server
from .targets import targets

DOCUMENT = ROOT / "docs" / "explanation" / "benchmarks.md"
_BEGIN, _END = "<!-- measured -->", "<!-- end of measured -->"

Row = Sequence[str]


def report(figures: Figures, found: Sequence[Server], missing: Sequence[str], plan: Plan) -> str:
    """All of a run, in Markdown whose tables are also readable as text."""
    parts = [
        "\n".join(f"- {line}" for line in _circumstances(figures, found, missing, plan)),
        _table(_side_by_side(figures, found)),
        _table(_by_size(figures)),
        _table(_of_bridge(figures)),
        _table(_targets(figures)),
    ]
    return "\n\n".join(parts) + "\n"


def write(text: str) -> None:
    """Put ``text`` in the place for it in docs/explanation/benchmarks.md."""
    document = DOCUMENT.read_text("utf-8")
    before, begin, rest = document.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{DOCUMENT} has no {_BEGIN} … {_END}")
    DOCUMENT.write_text(f"{before}{_BEGIN}\n\n{text}\n{_END}{after}", "utf-8")


def _circumstances(
    figures: Figures, found: Sequence[Server], missing: Sequence[str], plan: Plan
) -> Iterator[str]:
    yield f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {platform.platform()}"
    place = "client and server pinned to one each" if figures.pinned else "nothing pinned"
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    yield f"{_processor()}, {os.cpu_count()} processors, {place}; load at the end {load}"
    rounds = "1 round" if plan.rounds == 1 else f"medians of {plan.rounds} rounds"
    yield f"Python {platform.python_version()}; {rounds}"
    yield "; ".join(f"{server.name}: {server.version}" for server in found)
    yield from missing


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _side_by_side(figures: Figures, found: Sequence[Server]) -> Iterator[Row]:
    yield ["", *(server.name for server in found)]
    for title in MEASURES:
        row = figures.by_measure.get(title, {})
        yield [title, *(_number(row.get(server.name)) for server in found)]


def _by_size(figures: Figures) -> Iterator[Row]:
    sizes = sorted(next(iter(figures.by_size.values())))
    yield ["toolspan, number of tools", *(f"{size:,}" for size in sizes)]
    for title, row in figures.by_size.items():
        yield [title, *(_number(row[size]) for size in sizes)]


def _of_bridge(figures: Figures) -> Iterator[Row]:
    yield ["toolspan, the bridge", "figure"]
    for title, value in figures.of_bridge.items():
        yield [title, _number(value)]


def _targets(figures: Figures) -> Iterator[Row]:
    yield ["target", "figure", "reached"]
    for target in targets(figures):
        yield [target.wanted, target.figure, "yes" if target.reached else "no"]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _table(rows: Iterator[Row]) -> str:
    all_rows = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in all_rows) for column in range(len(all_rows[0]))]
    lines = [
        "| " + " | ".join(_aligned(cell, width, column) for column, (cell, width) in enumerate(pairs)) + " |"
        for pairs in (list(zip(row, widths, strict=True)) for row in all_rows)
    ]
    rule = "|".join("-" * (width + 1) + ("-" if column == 0 else ":") for column, width in enumerate(widths))
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)
