"""How long to wait before an HTTP request is sent again: doubled waits, dates of ``Retry-After``."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_S = 30.0
"""The longest wait that a ``Retry-After`` is granted. One that asks for more ends the attempts."""

_LONGEST_DATE = 60


def backoff(first: float, attempt: int, cap: float) -> float:
    """Seconds before the attempt after number ``attempt`` (from 1): ``first``, doubled each time, at most
    ``cap``."""
    return min(first * 2.0 ** (attempt - 1), cap)


def seconds_until(http_date: str, now: str = "") -> float | None:
    """Seconds until ``http_date`` (RFC 9110, 5.6.7), 0 when it has passed, ``None`` when it is no date.

    ``now`` is the server's own ``Date`` header, so that its clock is compared with itself; without it, it is
    this machine's clock.
    """
    then, start = _moment(http_date), _moment(now) if now else datetime.now(UTC)
    if then is None or start is None:
        return None
    return max(0.0, (then - start).total_seconds())


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text[:_LONGEST_DATE])
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
