"""Trials in pairs, one of each side under the same conditions: the difference of their rates, and whether it
is more than chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import comb, sqrt
from typing import Any, Self

from .counts import Counts
from .intervals import Interval

__all__ = ["Paired"]


@dataclass(frozen=True, slots=True)
class Paired:
    """How many pairs succeeded on ``both`` sides, ``only_before``, ``only_now``, and on ``neither``."""

    both: int = 0
    only_before: int = 0
    only_now: int = 0
    neither: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[tuple[bool, bool]]) -> Self:
        """The counts of ``outcomes``: whether the one before succeeded, and the one now."""
        pairs = list(outcomes)
        return cls(
            pairs.count((True, True)),
            pairs.count((True, False)),
            pairs.count((False, True)),
            pairs.count((False, False)),
        )

    @property
    def n(self) -> int:
        """The number of pairs."""
        return self.both + self.only_before + self.only_now + self.neither

    @property
    def before(self) -> Counts:
        """The trials of before."""
        return Counts(self.n, self.both + self.only_before)

    @property
    def now(self) -> Counts:
        """The trials of now."""
        return Counts(self.n, self.both + self.only_now)

    @property
    def difference(self) -> float:
        """The rate of now less that of before, -1 … 1; 0 without a pair."""
        return (self.only_now - self.only_before) / self.n if self.n else 0.0

    @property
    def interval(self) -> Interval:
        """Where the true difference lies, with a confidence of 95 %: of the two Wilson intervals, with the
        correlation of the pairs (R. G. Newcombe, Statistics in Medicine 17, 1998, 2635–2650, method 10).
        Without a pair it is everything."""
        if not self.n:
            return Interval(-1.0, 1.0)
        now, before = self.now, self.before
        down_now, up_now = now.rate - now.interval.low, now.interval.high - now.rate
        down_before, up_before = before.rate - before.interval.low, before.interval.high - before.rate
        phi = self._correlation
        low = self.difference - _root(down_now, up_before, phi)
        high = self.difference + _root(up_now, down_before, phi)
        return Interval(max(-1.0, low), min(1.0, high))

    @property
    def p(self) -> Fraction:
        """The two-sided p of McNemar's exact test: how probable so uneven a share of the pairs that differ
        is, or one more so, where each side is as likely to be the better one of such a pair."""
        differing = self.only_before + self.only_now
        tail = sum(comb(differing, k) for k in range(min(self.only_before, self.only_now) + 1))
        return min(Fraction(1), Fraction(2 * tail, 2**differing))

    @property
    def _correlation(self) -> float:
        a, b, c, d = self.both, self.only_now, self.only_before, self.neither
        spread = (a + b) * (c + d) * (a + c) * (b + d)
        product = a * d - b * c
        if not spread:
            return 0.0
        return (max(product - self.n / 2, 0.0) if product > 0 else float(product)) / sqrt(spread)

    def as_dict(self) -> dict[str, Any]:
        """``{"n", "before", "now", "difference", "interval": [low, high], "p"}``, to six places."""
        return {
            "n": self.n,
            "before": self.before.as_dict(),
            "now": self.now.as_dict(),
            "difference": round(self.difference, 6),
            "interval": [round(end, 6) for end in self.interval],
            "p": round(float(self.p), 9),
        }


def _root(mine: float, other: float, phi: float) -> float:
    return sqrt(max(0.0, mine * mine - 2 * phi * mine * other + other * other))
