"""Latencies in steps, so that percentiles are counted and not sorted: each step is a tenth longer."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["bucket_of", "percentile"]

_STEP = 1.1
_LEAST_MS = 0.01


def bucket_of(ms: float) -> int:
    """The step of ``ms`` milliseconds: 0 for up to a hundredth of one."""
    return 0 if ms <= _LEAST_MS else math.ceil(math.log(ms / _LEAST_MS, _STEP))


def percentile(counts: Mapping[int, int], share: float) -> float | None:
    """The milliseconds that ``share`` of the counted steps took at most, to a twentieth; ``None`` of none."""
    total = sum(counts.values())
    seen = 0
    for bucket in sorted(counts):
        seen += counts[bucket]
        if total and seen >= share * total:
            return round(_LEAST_MS * math.pow(_STEP, bucket - 0.5), 3)
    return None
