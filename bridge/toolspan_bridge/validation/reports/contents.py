"""What a report is made of, whatever its form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..badges import RULE, BadgeRule
from ..evidence.comparison import CellName, Comparison, compared
from ..evidence.counts import Counts
from ..evidence.records import Record
from ..storage.trial import timestamp

__all__ = ["Contents", "cells_of", "contents_of"]


@dataclass(frozen=True)
class Contents:
    """``records`` with their trials, ``generated`` at a time; ``comparison`` with a baseline, where there
    is one."""

    records: tuple[Record, ...]
    rule: BadgeRule = RULE
    generated: str = ""
    comparison: Comparison | None = None

    @property
    def latest(self) -> tuple[Record, ...]:
        """The last tested record of each model and suite."""
        last: dict[tuple[str, str], Record] = {}
        for record in sorted(self.records, key=lambda each: each.last_tested):
            last[record.model_id, record.suite] = record
        return tuple(last[of] for of in sorted(last))

    def below(self, rate: float) -> tuple[Record, ...]:
        """The latest records that do not reach ``rate``, or are stale."""
        return tuple(each for each in self.latest if each.changed or each.counts.rate < rate)


def contents_of(
    records: Iterable[Record], rule: BadgeRule = RULE, baseline: Mapping[CellName, Counts] | None = None
) -> Contents:
    """The contents of a report of ``records``, made now, compared with the cells of ``baseline``."""
    plain = Contents(tuple(records), rule, timestamp())
    if baseline is None:
        return plain
    return Contents(plain.records, rule, plain.generated, compared(baseline, cells_of(plain)))


def cells_of(contents: Contents) -> dict[CellName, Counts]:
    """The latest records' cells: each as a whole, and each of their scenarios."""
    cells: dict[CellName, Counts] = {}
    for record in contents.latest:
        cells[record.model_id, record.suite, ""] = record.counts
        for scenario, counts in record.scenarios.items():
            cells[record.model_id, record.suite, scenario] = counts
    return cells
