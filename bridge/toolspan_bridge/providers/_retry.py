"""How often and after how long a request is sent again. Whether at all, ``parse_error`` tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``retries`` more attempts, ``first`` · 2ⁿ seconds apart, at most ``cap``, less up to ``jitter``.

    A provider that names its own wait is obeyed up to ``longest`` seconds; one that asks for more gets no
    further attempt, since a sooner one would be in vain.
    """

    retries: int = 2
    first: float = 0.5
    cap: float = 8.0
    jitter: float = 0.25
    longest: float = 30.0

    def backoff(self, attempt: int, dice: float) -> float:
        """Seconds to wait after failed attempt number ``attempt`` (from 0); ``dice`` is from 0 to 1."""
        wait = min(self.first * 2.0**attempt, self.cap)
        return wait * (1 - self.jitter * dice)
