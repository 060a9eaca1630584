"""Whether a model succeeds more often by prompts than by its native calls, and by more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from ...formats.prompt.wordings import DEFAULT
from ..badges import MINIMUM
from ..evidence.comparison import ALPHA
from ..evidence.counts import Counts
from ..evidence.exact_tests import fisher_exact, holm
from ..evidence.records import Record
from ..fingerprint import Fingerprint

__all__ = ["BetterMode", "better_mode"]


@dataclass(frozen=True, slots=True)
class BetterMode:
    """The ``wording`` of the prompt by which a model does better than natively: ``prompt`` and ``native`` are
    the trials of the suites that both were put to; ``p`` is the least p of their comparisons, corrected."""

    wording: str
    prompt: Counts
    native: Counts
    p: Fraction

    @property
    def text(self) -> str:
        """As in ``38 of 40 succeeded, natively 21 of 40 (p = 0.0000)``."""
        return (
            f"{self.prompt.successes} of {self.prompt.n} succeeded, natively {self.native.successes} of "
            f"{self.native.n} (p {_shown(self.p)})"
        )

    def named(self, model: str) -> str:
        """``model`` (``provider/model``) as it is named to be asked so."""
        return f"prompt.{self.wording}:{model}"


@dataclass(frozen=True, slots=True)
class _Compared:
    wording: str
    prompt: Counts
    native: Counts
    p: Fraction = Fraction(1)

    @property
    def differs(self) -> bool:
        return self.p < ALPHA


def better_mode(records: Iterable[Record], minimum: int = MINIMUM) -> BetterMode | None:
    """The wording of the prompt that serves the one model of ``records`` better than its native calls.

    Two records are compared where their fingerprints are equal but for mode and wording, neither is stale,
    and both have ``minimum`` trials. Fisher's exact test compares their counts, corrected by Holm over all
    wordings and suites. A wording is better that is so in one suite with p below 0.05, and worse so in none;
    of several the one with the highest rate, of equals the usual one.
    """
    pairs = _pairs(_by_fingerprint(records), minimum)
    found: list[BetterMode] = []
    for wording in dict.fromkeys(pair.wording for pair in pairs):
        mine = [pair for pair in pairs if pair.wording == wording and pair.differs]
        if mine and all(pair.prompt.rate > pair.native.rate for pair in mine):
            found.append(_together(wording, [pair for pair in pairs if pair.wording == wording]))
    return max(found, key=lambda each: (each.prompt.rate, each.wording == DEFAULT), default=None)


def _by_fingerprint(records: Iterable[Record]) -> dict[Fingerprint, Counts]:
    """The counts of what is not stale; one fingerprint may be recorded under several names."""
    found: dict[Fingerprint, Counts] = {}
    for record in records:
        if record.fingerprint is None or record.changed:
            continue
        before = found.get(record.fingerprint, Counts(0, 0))
        n, successes = before.n + record.counts.n, before.successes + record.counts.successes
        found[record.fingerprint] = Counts(n, successes)
    return found


def _pairs(counts: Mapping[Fingerprint, Counts], minimum: int) -> list[_Compared]:
    enough = {mark: each for mark, each in counts.items() if each.n >= minimum}
    native: dict[Fingerprint, Counts] = {}
    for mark, each in enough.items():  # of several renderings the best
        bare = _but_for_mode(mark)
        if mark.mode == "native" and (bare not in native or each.rate > native[bare].rate):
            native[bare] = each
    pairs = [
        _Compared(mark.wording, prompted, beside)
        for mark, prompted in enough.items()
        if mark.mode == "prompt" and (beside := native.get(_but_for_mode(mark)))
    ]
    values = [
        fisher_exact(pair.prompt.successes, pair.prompt.n, pair.native.successes, pair.native.n)
        for pair in pairs
    ]
    return [replace(pair, p=p) for pair, p in zip(pairs, holm(values), strict=True)]


def _but_for_mode(mark: Fingerprint) -> Fingerprint:
    return replace(mark, mode="", wording="")


def _together(wording: str, pairs: list[_Compared]) -> BetterMode:
    return BetterMode(
        wording,
        _sum(pair.prompt for pair in pairs),
        _sum(pair.native for pair in pairs),
        min(pair.p for pair in pairs),
    )


def _sum(counts: Iterable[Counts]) -> Counts:
    every = list(counts)
    return Counts(sum(each.n for each in every), sum(each.successes for each in every))


def _shown(p: Fraction) -> str:
    return f"= {float(p):.3f}" if p >= Fraction(1, 1000) else "< 0.001"
