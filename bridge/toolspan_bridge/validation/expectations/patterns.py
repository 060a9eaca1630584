"""Texts that contain a part or match a pattern; patterns come from suites, and are RE2's."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, cast

from toolspan_server.common.re2_patterns import compiled

from .._clean import clean_text


class _Pattern(Protocol):
    def search(self, text: str) -> object | None: ...


def checked_text(kind: str, text: object) -> str:
    """``text``, the operand of the form ``kind``. Raises ``ValueError`` when it is none, or empty."""
    if not isinstance(text, str) or not text:
        raise ValueError(f"{kind} needs a text that is not empty, not {text!r} (put a number in quotes)")
    return text


def checked_pattern(kind: str, text: object) -> str:
    """The same for a pattern. Raises ``ValueError`` when RE2 does not take it."""
    pattern = checked_text(kind, text)
    _compiled(pattern)
    return pattern


def contains(text: str, part: str) -> bool:
    """Whether ``part`` is in ``text``, in any case."""
    return part.strip().casefold() in text.casefold()


def matches(text: str, pattern: str) -> bool:
    """Whether ``pattern`` is found in ``text``."""
    return _compiled(pattern).search(clean_text(text)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> _Pattern:
    try:
        return cast("_Pattern", compiled(clean_text(pattern)))
    except ValueError as error:
        raise ValueError(f"{pattern!r} is not a valid RE2 pattern: {error}") from None
