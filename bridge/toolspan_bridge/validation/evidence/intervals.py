"""The interval in which a rate lies, by Wilson's score (E. B. Wilson, 1927)."""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Z_95", "Interval", "wilson"]

Z_95 = 1.959963984540054
"""The 0.975 quantile of the normal distribution."""


class Interval(NamedTuple):
    """Both ends are rates, 0 … 1."""

    low: float
    high: float


def wilson(successes: int, n: int, z: float = Z_95) -> Interval:
    """The interval that holds the true rate with a confidence of 95 %, of ``successes`` in ``n`` trials.

    Without a trial it is everything. Raises ``ValueError`` for counts that cannot be.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} cannot be successes")
    if n == 0:
        return Interval(0.0, 1.0)
    rate, z2 = successes / n, z * z
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At the ends the formula is exact; floating point is not.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return Interval(low, high)
