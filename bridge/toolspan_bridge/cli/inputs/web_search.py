"""Settings of a provider's own web search, written KEY=VALUE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import UsageError

_LISTS = ("allowed_domains", "blocked_domains")
_TEXTS = ("country", "region", "city", "timezone")
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
        elif key == _NUMBER and value.isdecimal() and int(value) > 0:
            read[key] = int(value)
        else:
            known = ", ".join((*_LISTS, *_TEXTS, _NUMBER))
            raise UsageError(f"--search {each!r}: write KEY=VALUE with one of {known}")
    return read
