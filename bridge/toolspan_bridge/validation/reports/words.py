"""How counts are told in a report."""

from __future__ import annotations

from ..evidence.counts import Counts

__all__ = ["errors_text", "percent", "share"]


def percent(counts: Counts) -> int:
    """The rate in percent, rounded down, so that nothing looks better than it is."""
    return counts.successes * 100 // counts.n if counts.n else 0


def share(counts: Counts) -> str:
    """As in ``3 of 4``."""
    return f"{counts.successes:,} of {counts.n:,}"


def errors_text(counts: Counts) -> tuple[str, ...]:
    """As in ``2 errors``; nothing where there are none."""
    return (f"{counts.errors:,} error{'' if counts.errors == 1 else 's'}",) if counts.errors else ()
