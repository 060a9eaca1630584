"""The trials that the page lists: of each scenario as many as there is room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...evidence.records import Record
from ...storage.trial import Trial

__all__ = ["MOST_TRIALS", "Listed", "ListedTrials", "mark"]

MOST_TRIALS = 20_000
"""So many trials a page lists at most, shared evenly by its scenarios, so that a browser opens it."""

_LEAST = 4
_MOST_MARKS = 40


@dataclass(slots=True)
class Listed:
    """The trials of a scenario, each with its number in it, and the ``marks`` of the first ones; ``count`` is
    how many there are in all. At most ``most`` are kept: the first that did not succeed, then others."""

    most: int
    count: int = 0
    marks: str = ""
    _unsuccessful: list[tuple[int, Trial]] = field(default_factory=list[tuple[int, Trial]])
    _successes: list[tuple[int, Trial]] = field(default_factory=list[tuple[int, Trial]])

    def add(self, trial: Trial) -> None:
        """Count ``trial``, and keep it where there is room."""
        self.count += 1
        if self.count <= _MOST_MARKS:
            self.marks += mark(trial)
        kept = self._successes if trial.success else self._unsuccessful
        if len(kept) < self.most:
            kept.append((self.count, trial))

    @property
    def by_need(self) -> Sequence[tuple[int, Trial]]:
        """Those that are listed, unsuccessful ones first."""
        return [*self._unsuccessful, *self._successes][: self.most]

    @property
    def trials(self) -> Sequence[tuple[int, Trial]]:
        """Those that are listed, in the order in which they were made."""
        return sorted(self.by_need, key=lambda each: each[0])


class ListedTrials:
    """The listed trials of ``records``, whose trials are gone through once; ``left_out`` counts those that
    are not listed."""

    def __init__(self, records: Iterable[Record], most: int = MOST_TRIALS) -> None:
        found = list(records)
        each = max(_LEAST, most // max(1, sum(len(record.scenarios) for record in found)))
        self._found = {id(record): _listed(record, each) for record in found}
        self.left_out = sum(of.count - len(of.by_need) for scenarios in self for of in scenarios.values())

    def __iter__(self) -> Iterator[dict[str, Listed]]:
        """Of each record its scenarios, in the order in which they were first tried."""
        return iter(self._found.values())

    def of(self, record: Record) -> dict[str, Listed]:
        """Those of one of the records, by scenario."""
        return self._found[id(record)]


def mark(trial: Trial) -> str:
    """The outcome of ``trial`` as one character."""
    return "!" if trial.is_error else "✓" if trial.success else "✗"


def _listed(record: Record, most: int) -> dict[str, Listed]:
    found: dict[str, Listed] = {}
    for trial in record.trials:
        found.setdefault(trial.scenario, Listed(most)).add(trial)
    return found
