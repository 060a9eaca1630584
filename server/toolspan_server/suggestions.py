"""Hints for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """What to say to someone who wrote ``name``: ``did you mean 'x'?``, or what there is to choose from."""
    import difflib

    names = sorted(known)
    if close := difflib.get_close_matches(name, names, n=1, cutoff=0.6):
        return f"did you mean {close[0]!r}?"
    if not names:
        return "none are known here"
    return "known: " + ", ".join(names)
