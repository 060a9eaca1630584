"""Hints for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import takewhile

_MOST_COMPARED = 200


def nearest(name: str, known: Iterable[str]) -> str:
    """What to say to someone who wrote ``name``: ``did you mean 'x'?``, or what there is to choose from."""
    import difflib

    names = sorted(known)
    if close := difflib.get_close_matches(name, _likely(name, names), n=1, cutoff=0.6):
        return f"did you mean {close[0]!r}?"
    if not names:
        return "none are known here"
    return "known: " + ", ".join(names)


def _likely(name: str, names: Sequence[str]) -> Sequence[str]:
    """Of many ``names`` those that start and end the most like ``name``: comparing whole ones takes long."""
    if len(names) <= _MOST_COMPARED:
        return names
    backwards = name[::-1]
    return nlargest(
        _MOST_COMPARED, names, key=lambda other: _shared(name, other) + _shared(backwards, other[::-1])
    )


def _shared(one: str, other: str) -> int:
    """How many characters both start with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
