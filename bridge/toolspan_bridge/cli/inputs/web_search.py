"""Settings of a provider's own web search, written KEY=VALUE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolspan_server.schema.values import instant

from ...errors import UsageError

_LISTS = ("allowed_domains", "blocked_domains")
_TEXTS = ("country", "region", "city", "timezone", "language")
_TIMES = ("start_time", "end_time")
_GLOBE = {"latitude": 90, "longitude": 180}
_NUMBER = "max_uses"


def read_search(given: Iterable[str]) -> dict[str, Any]:
    """The settings. Raises ``UsageError`` for one that there is not."""
    read: dict[str, Any] = {}
    for each in given:
        key, _, value = (part.strip() for part in each.partition("="))
        if key in _LISTS and value:
            read[key] = [host.strip() for host in value.split(",") if host.strip()]
        elif key in _TEXTS and value:
            read[key] = value
        elif key in _TIMES:
            read[key] = _time(each, value)
        elif key in _GLOBE and (degrees := _degrees(value, _GLOBE[key])) is not None:
            read[key] = degrees
        elif key == _NUMBER and value.isdecimal() and int(value) > 0:
            read[key] = int(value)
        else:
            known = ", ".join((*_LISTS, *_TEXTS, *_TIMES, *_GLOBE, _NUMBER))
            raise UsageError(f"--search {each!r}: write KEY=VALUE with one of {known}")
    return read


def _time(given: str, value: str) -> str:
    try:
        return instant(value)
    except ValueError as error:
        raise UsageError(f"--search {given!r}: {error}") from None


def _degrees(value: str, most: int) -> float | None:
    """The number; ``None`` when it is none, or beyond ``most``."""
    try:
        degrees = float(value)
    except ValueError:
        return None
    return degrees if abs(degrees) <= most else None
