"""Taking secret values out of texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

SHORTEST_SECRET = 4
"""Values shorter than this are not taken out of texts: they occur in any text by chance, so that
replacing them would garble every message, and nothing that short keeps a secret."""


def forms(value: str) -> set[str]:
    """How ``value`` may appear in a text: as it is, and escaped as Python and JSON escape it."""
    return {value, repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}


def pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """What finds any of ``values`` in any form, the longest first; ``None`` when there are none."""
    wanted = {form for value in values if _is_long(value) for form in forms(value)}
    return _any_of(wanted) if wanted else None


class Renamed:
    """Takes texts and gives them with each value that is a key of ``names`` as what it maps to.

    A value shorter than ``SHORTEST_SECRET`` is replaced only where it stands alone in quotes.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._wanted = {
            form: name for value, name in names.items() if _is_long(value) for form in forms(value)
        }
        self._wanted.update({repr(value): repr(name) for value, name in names.items()})
        self._pattern = _any_of(self._wanted) if self._wanted else None

    def __call__(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._wanted[match.group()], text)


def _is_long(value: str) -> bool:
    return len(value) >= SHORTEST_SECRET


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)))
