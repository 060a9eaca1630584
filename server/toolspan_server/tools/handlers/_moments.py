"""Dates and times as people and models write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from ...common.json_values import shortened
from ...errors import InvalidParameters
from ._zones import in_zone, on_the_clock

MAX_LENGTH = 100

_DATES = ("%Y/%m/%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%d-%b-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %I %p")
_UNIX = re.compile(r"-?\d{9,11}(\.\d{1,6})?", re.ASCII)
_AMBIGUOUS = re.compile(r"\d{1,2}[/-]\d{1,2}[/-]\d{2,4}\b.*", re.ASCII)
_MERIDIEM = re.compile(r"(\d) ?([ap])\.?m\.?$", re.ASCII | re.IGNORECASE)


def moment_of(text: str, zone: tzinfo, parameter: str) -> tuple[datetime, str]:
    """The moment that ``text`` names, and a note where the clocks of ``zone`` make one necessary.

    ISO 8601, RFC 2822, Unix seconds, and common forms with the year in full (``29 March 2026 2:30
    pm``, ``2026/03/29``, ``29.03.2026``). Without an offset of its own the time is one in ``zone``.

    Raises ``InvalidParameters``.
    """
    if len(text) > MAX_LENGTH:
        raise InvalidParameters([f"'{parameter}' must have at most {MAX_LENGTH} characters"])
    stripped = " ".join(text.split())
    if _UNIX.fullmatch(stripped):
        return in_zone(datetime.fromtimestamp(float(stripped), UTC), zone), ""
    found = _iso(stripped) or _common(stripped) or _mail(stripped)
    if found is None:
        raise InvalidParameters([f"'{parameter}' {_unreadable(stripped)}"])
    if found.tzinfo is not None:
        return found, ""
    return on_the_clock(found, zone)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _mail(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime

    if not re.match(r"([A-Za-z]{3}, )?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d", text, re.ASCII):
        return None
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _common(text: str) -> datetime | None:
    plain = _MERIDIEM.sub(r"\1 \2m", re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", text.replace(",", " ")))
    plain = " ".join(re.sub(r"^[A-Za-z]+day\b", "", plain).split()).replace(" at ", " ")
    for day in _DATES:
        for time in _TIMES:
            try:
                return datetime.strptime(plain, day + time)  # noqa: DTZ007 - the zone is settled by the caller
            except ValueError:
                continue
    return None


def _unreadable(text: str) -> str:
    shown = repr(shortened(text, 60))
    if _AMBIGUOUS.fullmatch(text):
        return f"is ambiguous, write the year first as in 2026-03-29 (got {shown})"
    return f"must be a date or time such as 2026-03-29T14:30:00+02:00 (got {shown})"
