"""A question in plain words, as the terms that are looked for."""

from __future__ import annotations

import re

MOST_TERMS = 32
"""The most different words of a question that are looked for."""

_WORD = re.compile(r"[^\W_]+")
_WITHOUT_MEANING = """
a about all also am an and any are as at be been but by can could did do does for from had has have
how i if in into is it its just me my no not of on or our please shall should so some than that the
their them then there these they this those to us was we were what when where which who whom why
will with would you your
"""
_STOP_WORDS = frozenset(_WITHOUT_MEANING.split())


def terms(question: str) -> list[str]:
    """The different words of ``question`` in order, without such as "the" unless there are no others."""
    words: dict[str, str] = {}
    for match in _WORD.finditer(question):
        words.setdefault(match[0].lower(), match[0])
    telling = [word for lower, word in words.items() if lower not in _STOP_WORDS]
    return (telling or list(words.values()))[:MOST_TERMS]


def expression(words: list[str]) -> str:
    """The FTS5 expression that finds any of ``words``; each is quoted, so none can be an operator."""
    return " OR ".join(f'"{word}"' for word in words)
