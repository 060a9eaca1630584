"""Whether what a user typed says itself what a call does, so that nothing in it can come from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

__all__ = ["states", "unnamed_keys"]

_MOST_TEXT = 20_000
_MOST_VALUES = 40
_LEAST_TEXT = 3
_LEAST_STEM = 5
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?")
_WORD = re.compile(r"[a-z]+")
_NUMBER = re.compile(r"(?<![\w.,-])\d{1,15}(?:\.\d{1,6})?(?![\w-]|[.,]\d)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?")
"""A date or a time, as tools want it: users write it in other forms, and it can name nobody."""

_BLANKS = re.compile(r"\s+")
_NEGATIONS = re.compile(
    r"\b(not|never|no|none|nothing|nobody|without|except|unless|avoid|cannot|instead|ignore|stop)\b|n['\u2019]t\b"
)


def states(typed: str, words: Sequence[str], arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether ``typed`` asks for the call of a tool, whose name has these ``words``, with ``arguments``.

    It has the tool's verb in a sentence that is no question, and every text and number of the arguments as
    it stands, dates and times excepted; there is at least one such text. A key that is no property of the
    tool's ``schema`` is such a text too. A message that excludes anything
    (``never``, ``without`` …) states nothing.
    """
    text = _plain(typed[: _MOST_TEXT + 1])
    if not words or len(text) > _MOST_TEXT or _NEGATIONS.search(text) or not _asks_for(words[0], typed):
        return False
    numbers = {float(each) for each in _NUMBER.findall(text)}
    texts = 0
    for count, value in enumerate(_leaves(arguments, schema)):
        if count == _MOST_VALUES or isinstance(value, bool):
            return False
        if isinstance(value, int | float):
            if abs(value) >= 1e15 or float(value) not in numbers:
                return False
        elif isinstance(value, str):
            if _MOMENT.fullmatch(value):
                continue
            if not _has_phrase(text, _plain(value)):
                return False
            texts += 1
    return texts > 0


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text).strip().casefold()


def _asks_for(verb: str, typed: str) -> bool:
    """Whether a sentence that is no question has the verb, or a word that is made of it."""
    stem = verb.removesuffix("e")
    for match in _SENTENCE.finditer(typed.casefold()):
        if match[0].rstrip().endswith("?"):
            continue
        for word in _WORD.findall(match[0]):
            if word in (verb, f"{verb}s") or (len(stem) >= _LEAST_STEM and word.startswith(stem)):
                return True
    return False


def _has_phrase(text: str, value: str) -> bool:
    """Whether ``value`` stands in ``text``, and not as a part of a longer word or address."""
    if len(value) < _LEAST_TEXT:
        return False
    pattern = rf"(?<![\w@+-])(?<!\w[./:]){re.escape(value)}(?![\w@+-]|[./:]\w)"
    return re.search(pattern, text) is not None


def unnamed_keys(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The keys in ``arguments`` that are no properties of ``schema``: they can carry what values can."""
    return [key for key, is_key in _given(arguments, schema) if is_key]


def _leaves(value: Any, schema: Any) -> Iterator[Any]:
    return (each for each, _ in _given(value, schema))


def _given(value: Any, schema: Any) -> Iterator[tuple[Any, bool]]:
    """Every value that is given, no ``null`` and no empty text, and every key that ``schema`` does not name;
    with each whether it is a key."""
    stack = [(value, schema)]
    while stack:
        each, known = stack.pop()
        if isinstance(each, Mapping):
            properties = _object(_object(known).get("properties"))
            for key, item in cast("Mapping[str, Any]", each).items():
                if key not in properties:
                    yield key, True
                stack.append((item, properties.get(key)))
        elif isinstance(each, list | tuple):
            items = _object(known).get("items")
            stack.extend((item, items) for item in cast("list[Any]", each))
        elif each is not None and each != "":
            yield each, False


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
