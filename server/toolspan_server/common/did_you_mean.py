"""Hints for unknown names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache

_MOST_COMPARED = 200
_NEIGHBOURS = 25
_MOST_SHOWN = 50


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for someone who wrote ``name``: ``did you mean 'x'?``, or the known names."""
    import difflib

    names = _ordered(tuple(known))
    if close := difflib.get_close_matches(name, _likely(name, names), n=1, cutoff=0.6):
        return f"did you mean {close[0]!r}?"
    if not names:
        return "none are known here"
    return known_names(names)


def known_names(names: Sequence[str]) -> str:
    """``known: a, b``; of many the first and how many more."""
    more = len(names) - _MOST_SHOWN
    return "known: " + ", ".join(names[:_MOST_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


@lru_cache(maxsize=4)
def _ordered(names: tuple[str, ...]) -> list[str]:
    return sorted(names)


@lru_cache(maxsize=4)
def _backwards(names: tuple[str, ...]) -> list[str]:
    return sorted(name[::-1] for name in names)


def _likely(name: str, names: Sequence[str]) -> Sequence[str]:
    """Of many ``names`` those that start or end the most like ``name``: comparing with each takes long."""
    if len(names) <= _MOST_COMPARED:
        return names
    ending = _around(name[::-1], _backwards(tuple(names)))
    return list(dict.fromkeys([*_around(name, names), *(other[::-1] for other in ending)]))


def _around(name: str, ordered: Sequence[str]) -> Sequence[str]:
    """The neighbours of ``name``, which start with as much of it as any."""
    at = bisect_left(ordered, name)
    return ordered[max(at - _NEIGHBOURS, 0) : at + _NEIGHBOURS]
