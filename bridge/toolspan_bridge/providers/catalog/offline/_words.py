"""Words: how a text is cut into them, which ones say nothing, and which ones are the same."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def listed(text: str) -> list[str]:
    """The words of a list that is written as plain text."""
    return text.split()


STOP_WORDS = frozenset(
    listed(
        """a about also am an and any are as at be been but by can could did do does for from get give had
        has have hello help her here him his how i if in into is it its let like me my need not of off
        on one or our out over please shall she should so some tell than thank thanks that the their
        them then there these they this those to under up us use using want was we were what what's
        whats when where which who whom whose why will with would you your i'd i'm it's there's provide
        given via per such other used e.g"""
    )
)
"""Words that say nothing of what is wanted."""

_SUFFIXES = (
    "ations",
    "ation",
    "ators",
    "ator",
    "ating",
    "ated",
    "ates",
    "ate",
    "ings",
    "ing",
    "ions",
    "ion",
    "ers",
    "er",
    "ors",
    "or",
    "ed",
    "es",
    "s",
    "e",
)
_LEAST_STEM = 3


def words(text: str) -> list[str]:
    """The words of ``text`` in order, lower case; ``snake_case`` and ``camelCase`` are cut apart."""
    return [word.lower().removesuffix("'s") for word in _WORD.findall(_HUMP.sub(" ", text.replace("’", "'")))]


def stem(word: str) -> str:
    """``word`` without its ending: ``calculate``, ``calculator`` and ``calculating`` are one."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ss", "us", "is")):
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            cut = word.removesuffix(suffix)
            doubled = len(cut) > _LEAST_STEM and cut[-1] == cut[-2] and cut[-1] not in "lsz"
            return cut[:-1] if doubled else cut
    return word


def stems(text: str) -> set[str]:
    """The stems of the words of ``text`` that say something."""
    return {stem(word) for word in words(text) if word not in STOP_WORDS}


def is_same(one: str, other: str) -> bool:
    """Whether two stems are one word, or one abbreviates the other: ``doc`` and ``document``."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _LEAST_STEM and long.startswith(short) and not short.isdigit()
