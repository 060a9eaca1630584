"""When a request is made again, and after how long."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from ...common.retry_waits import LONGEST_WAIT_S, backoff, seconds_until
from ...schema.records import Record, key
from ...schema.values import Milliseconds
from ._response import HttpResponse

_AGAIN = frozenset((408, 429, 500, 502, 503, 504))
_SAFE_TO_REPEAT = frozenset(("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"))
"""Idempotent methods (RFC 9110, 9.2.2)."""


class HttpRetry(Record):
    """How often a request that failed is made again.

    It is, when no connection could be made; and when an idempotent method's connection broke or its
    answer had status 408, 429, 500, 502, 503 or 504.
    """

    max_attempts: int = key("How many attempts a request has in total.", least=1, most=10, default=3)
    backoff_ms: Milliseconds = key(
        "Longest wait before the second attempt, in milliseconds; it doubles with each attempt. The "
        "actual wait is random.",
        default=200,
    )
    unsafe: bool = key(
        "Whether POST and PATCH are retried as well; their effect may happen twice.", default=False
    )


@dataclass(frozen=True, slots=True)
class Retrying:
    """What ``config`` means for one method."""

    config: HttpRetry
    method: str

    @property
    def repeatable(self) -> bool:
        """Whether a request that may have been acted on is made again."""
        return self.config.unsafe or self.method in _SAFE_TO_REPEAT

    def wait_after(self, attempt: int, answer: HttpResponse | None) -> float | None:
        """Seconds to wait after failed attempt number ``attempt``; ``None`` when that was the last.

        A ``Retry-After`` is waited for if it is at most ``LONGEST_WAIT_S``; a longer one ends it.
        """
        if attempt >= self.config.max_attempts:
            return None
        longest = backoff(self.config.backoff_ms / 1000, attempt, LONGEST_WAIT_S)
        wait = random.uniform(0, longest)  # full jitter
        asked = None if answer is None else retry_after(answer.headers.get("retry-after", ""))
        if asked is None:
            return wait
        return None if asked > LONGEST_WAIT_S else max(asked, wait)

    def is_failure(self, answer: HttpResponse) -> bool:
        """Whether the answer asks for another attempt."""
        return answer.status in _AGAIN


def retry_after(value: str) -> float | None:
    """Seconds that a ``Retry-After`` header asks for: a number, or a date; ``None`` when it has neither."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,20}", value):
        return float(value)
    return seconds_until(value) if value[:1].isalpha() else None
