"""Types of values that several config keys have in common: numbers with ranges, moments in time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

from ..problems import Fault, Faulty
from .constraints import Limits

Amount = Annotated[float, Limits(above=0)]
Count = Annotated[int, Limits(1)]
Duration = Annotated[float, Limits(above=0, most=604_800)]
Iterations = Annotated[int, Limits(1, 1000)]
Latitude = Annotated[float, Limits(-90, 90)]
Longitude = Annotated[float, Limits(-180, 180)]
Milliseconds = Annotated[int, Limits(1, 3_600_000)]
ResultBytes = Annotated[int, Limits(1024, 1024**3)]
Seconds = Annotated[float, Limits(above=0, most=3600)]
Fraction = Annotated[float, Limits(0, 1)]
Temperature = Annotated[float, Limits(0, 2)]


def instant(text: str) -> str:
    """``text``, a day or a time of ISO 8601, as RFC 3339 in UTC: ``2026-01-31T00:00:00Z``.

    A time without a zone is one of UTC. Raises ``Faulty`` (a ``ValueError``) when it is none.
    """
    try:
        read = datetime.fromisoformat(text.strip())
        known = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        hint = "write it as 2026-01-31 or 2026-01-31T12:00:00Z"
        raise Faulty(Fault((), f"{text!r} is no day or time", hint)) from None
    return known.isoformat().replace("+00:00", "Z")


HEADER_REMEDY = "remove it, also from the variables that the value is made of"
_HEADER_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def unsendable(value: str) -> str | None:
    """What ``value`` holds that no header can hold; ``None`` where it can be sent (RFC 9110, section 5.5)."""
    if _HEADER_CONTROL.search(value):
        return "a control character, such as a line break"
    return None if value.isascii() else "a character that no header can hold: only ASCII can be sent"
