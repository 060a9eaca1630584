"""Whether two counts differ by more than chance: exact tests over whole numbers, and many of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

__all__ = ["fisher_exact", "holm"]


def fisher_exact(successes: int, n: int, other_successes: int, other_n: int) -> Fraction:
    """The two-sided p of Fisher's exact test: how probable counts as different as these are, or more so,
    where both have one rate. 1 where one has no trials.

    Raises ``ValueError`` for counts that cannot be.
    """
    if not (0 <= successes <= n and 0 <= other_successes <= other_n):
        raise ValueError(f"{successes} of {n} and {other_successes} of {other_n} cannot be successes")
    together = successes + other_successes
    ways = [
        comb(n, mine) * comb(other_n, together - mine)
        for mine in range(max(0, together - other_n), min(n, together) + 1)
    ]
    observed = comb(n, successes) * comb(other_n, other_successes)
    return Fraction(sum(each for each in ways if each <= observed), comb(n + other_n, together))


def holm(values: Sequence[Fraction]) -> list[Fraction]:
    """The p ``values`` of tests that were made together, corrected by Holm's step-down method, in their
    order.

    Where each below 0.05 counts as a difference, one that is none is among them with at most that
    probability.
    """
    order = sorted(range(len(values)), key=lambda at: values[at])
    corrected = [Fraction(1)] * len(values)
    least = Fraction(0)
    for rank, at in enumerate(order):
        least = max(least, min(Fraction(1), values[at] * (len(values) - rank)))
        corrected[at] = least
    return corrected
