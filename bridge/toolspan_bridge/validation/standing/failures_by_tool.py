"""The tools that a model fails with: those whose calls were expected and hardly ever came right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..badges import RULE, BadgeRule
from ..evidence.confusion import NO_TOOL
from ..evidence.counts import Counts
from ..evidence.figures import OTHERS
from ..evidence.records import Record

__all__ = ["FailingTool", "failing_tools"]


@dataclass(frozen=True, slots=True)
class FailingTool:
    """A tool's own ``name``, and the trials that expected a call of it."""

    name: str
    counts: Counts

    @property
    def text(self) -> str:
        """As in ``delete_ticket (2 of 40 succeeded)``."""
        return f"{self.name} ({self.counts.successes} of {self.counts.n} succeeded)"


def failing_tools(records: Iterable[Record], rule: BadgeRule = RULE) -> tuple[FailingTool, ...]:
    """The tools that the one model of ``records`` fails with, by name.

    For each tool the last tested record speaks that is not stale and expected a call of it: the tool fails
    where there are at least the rule's ``minimum`` of such trials and the upper end of their interval is
    below its ``threshold``.
    """
    speaks: dict[str, Counts] = {}
    holding = [record for record in records if not record.changed]
    for record in sorted(holding, key=lambda each: each.last_tested):
        speaks |= {tool: counts for tool, counts in _by_tool(record).items() if counts.n}
    return tuple(FailingTool(tool, speaks[tool]) for tool in sorted(speaks) if _fails(speaks[tool], rule))


def _by_tool(record: Record) -> dict[str, Counts]:
    """The counts of the scenarios that expect a call of each tool."""
    if not record.summaries:
        return record.evidence.tools
    found: dict[str, Counts] = {}
    for summary in record.summaries:
        for tool in {expected for expected, _ in summary.figures.confusion} - {NO_TOOL, OTHERS}:
            before, more = found.get(tool, Counts(0, 0)), summary.counts
            found[tool] = Counts(before.n + more.n, before.successes + more.successes)
    return found


def _fails(counts: Counts, rule: BadgeRule) -> bool:
    return counts.n >= rule.minimum and counts.interval.high < rule.threshold
