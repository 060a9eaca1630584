"""What other definitions of the tools change, for people."""

from __future__ import annotations

from collections.abc import Sequence

from ...validation.definitions_ab import DefinitionsCell, ModelDifference
from ..terminal.output import emit_table, emit_text

__all__ = ["show_differences"]

_HEADS = ("cell", "before", "now", "difference", "95 %", "p", "change")


def show_differences(found: Sequence[ModelDifference]) -> None:
    """Print a table for each model: all trials, the tools, and the scenarios that changed."""
    for each in found:
        emit_text(f"{each.model_id}:")
        changed = [cell for cell in each.scenarios if cell.pairs.difference]
        emit_table(_HEADS, [_row(cell) for cell in (each.all, *each.tools, *changed)])
        if len(changed) < len(each.scenarios):
            same = len(each.scenarios) - len(changed)
            emit_text(f"{same} of {len(each.scenarios)} scenarios have the same rate with both")
        if each.unpaired:
            emit_text(f"{each.unpaired} trials ended by an error or have no partner: they are not compared")
        emit_text(_verdict(each.all))


def _row(cell: DefinitionsCell) -> tuple[str, ...]:
    pairs = cell.pairs
    low, high = pairs.interval
    return (
        cell.name or "all",
        f"{pairs.before.successes} of {pairs.n}",
        f"{pairs.now.successes} of {pairs.n}",
        _points(pairs.difference),
        f"{_points(low)} … {_points(high)}",
        f"{float(cell.corrected):.4f}",
        cell.change,
    )


def _verdict(cell: DefinitionsCell) -> str:
    low, high = cell.pairs.interval
    sure = (
        f"{_points(cell.pairs.difference)} points, with a confidence of 95 % {_points(low)} … {_points(high)}"
    )
    if cell.change == "same":
        return f"no difference by more than chance: {sure}"
    return f"{cell.change} by more than chance: {sure}"


def _points(rate: float) -> str:
    """A difference of rates in percentage points, with its sign."""
    return f"{round(rate * 100, 1) + 0.0:+g}"
