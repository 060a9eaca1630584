"""Records: the trials of one model and suite that have one fingerprint, and whether that still holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..fingerprint import Fingerprint
from ..storage.trial import Trial
from .counts import Counts
from .figures import Figures
from .measurements import Evidence, evidence_of

__all__ = [
    "NOT_KEPT",
    "Of",
    "Present",
    "Record",
    "Summary",
    "counted_records",
    "judged",
    "newest",
    "records_of",
]

NOT_KEPT = "fingerprint"
"""Stands among the changes of a record of an earlier version, which kept no fingerprint."""

Of = tuple[str, str, Fingerprint | None]
"""What the trials of a record have in common: the model, the suite, and the fingerprint."""

Present = Callable[["Record"], Mapping[str, str]]
"""The parts of a record's fingerprint as they are now, as far as they are known."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the trials of one scenario come to."""

    scenario: str
    counts: Counts
    figures: Figures


@dataclass(frozen=True)
class Record:
    """The trials of ``model_id`` with ``suite`` under one ``fingerprint``, ``None`` for those of versions
    that kept none; ``first_tested`` and ``last_tested`` are when the first and the last one ended.
    ``changed`` are the parts of the fingerprint that are no more what they were; with one the record is
    stale. ``trials`` (oldest first, as often as they are gone through) are only there where they were read;
    ``summaries`` (in the order in which the scenarios were first tried) only where they were not."""

    model_id: str
    suite: str
    fingerprint: Fingerprint | None
    counts: Counts
    first_tested: str
    last_tested: str
    changed: tuple[str, ...] = ()
    trials: Iterable[Trial] = ()
    summaries: tuple[Summary, ...] = field(default=(), compare=False, repr=False)
    counted: Evidence | None = field(default=None, compare=False, repr=False)
    """The figures of the trials, where they were counted while they were read."""

    @cached_property
    def scenarios(self) -> dict[str, Counts]:
        """The counts by scenario, in the order in which they were first tried; with or without the trials."""
        found = {summary.scenario: summary.counts for summary in self.summaries}
        return found or self.evidence.scenarios

    @property
    def flaky(self) -> tuple[str, ...]:
        """The scenarios of which some trials succeeded and some failed; with or without the trials."""
        return tuple(name for name, each in self.scenarios.items() if 0 < each.successes < each.n)

    @cached_property
    def figures(self) -> Figures:
        """Cost, tokens, rescued calls and confused tools; with or without the trials."""
        if not self.summaries:
            return self.evidence.figures
        found = Figures()
        for summary in self.summaries:
            found.add(summary.figures)
        return found

    @cached_property
    def evidence(self) -> Evidence:
        """The figures of the trials."""
        return evidence_of(self.trials) if self.counted is None else self.counted


def records_of(trials: Iterable[Trial], present: Present = lambda record: {}) -> list[Record]:
    """The records of ``trials`` (oldest first), ``judged``; each has its own."""
    kept: dict[Of, list[Trial]] = {}

    def keeping() -> Iterator[Trial]:
        for trial in trials:
            kept.setdefault(_of(trial), []).append(trial)
            yield trial

    return counted_records(keeping(), present, lambda of: tuple(kept[of]))


def counted_records(
    trials: Iterable[Trial],
    present: Present = lambda record: {},
    again: Callable[[Of], Iterable[Trial]] = lambda of: (),
) -> list[Record]:
    """The same, of trials which are too many to be kept: they are counted one after another, and those of a
    record are what ``again`` gives of its model, suite and fingerprint."""
    grouped: dict[Of, Evidence] = {}
    for trial in trials:
        grouped.setdefault(_of(trial), Evidence()).add(trial)
    found = (
        Record(*of, each.counts, each.first, each.last, trials=again(of), counted=each)
        for of, each in grouped.items()
    )
    return judged(found, present)


def judged(records: Iterable[Record], present: Present = lambda record: {}) -> list[Record]:
    """``records`` with what has ``changed``, sorted by model and suite, and of these the last tested one
    first.

    Of one model and suite only the last tested record can hold; what differs in the others is ``changed``. It
    is stale, too, where ``present`` says otherwise of a part.
    """
    found = sorted(records, key=lambda each: each.last_tested)
    last = {(each.model_id, each.suite): each for each in found}
    by_time = [_judged(each, last[each.model_id, each.suite], present) for each in reversed(found)]
    return sorted(by_time, key=lambda each: (each.model_id, each.suite))


def newest(records: Iterable[Record]) -> Record | None:
    """The record that speaks for a model: of those that are not stale the last tested one, else of all."""
    return max(records, key=lambda each: (not each.changed, each.last_tested), default=None)


def _of(trial: Trial) -> Of:
    return trial.model_id, trial.suite, trial.fingerprint


def _judged(record: Record, last: Record, present: Present) -> Record:
    mine = record.fingerprint
    if mine is None:
        changed: tuple[str, ...] = (NOT_KEPT,)
    elif record is not last and last.fingerprint is not None:
        changed = mine.changed(last.fingerprint.as_dict())
    else:
        changed = mine.changed(present(record))
    return replace(record, changed=changed)
