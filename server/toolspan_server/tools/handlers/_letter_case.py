"""A text's letters and words, for changing their case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def words(text: str) -> list[str]:
    """The words of ``text``: ``parseHTTPReply 2`` → ``parse HTTP Reply 2``."""
    found: list[str] = []
    for run in re.findall(r"[^\W_]+", text):
        found.extend(_humps(run))
    return found


def _humps(run: str) -> Iterator[str]:
    start = 0
    for place in range(1, len(run)):
        before, here, after = run[place - 1], run[place], run[place + 1 : place + 2]
        if here.isupper() and (not before.isupper() or after.islower()):
            yield run[start:place]
            start = place
    yield run[start:]


def _titled(text: str) -> str:
    return _WORD.sub(lambda word: word[0][:1].upper() + word[0][1:].lower(), text)


def _pascal(text: str) -> str:
    return "".join(word[:1].upper() + word[1:].lower() for word in words(text))


def _camel(text: str) -> str:
    first, *others = words(text) or [""]
    return first.lower() + "".join(word[:1].upper() + word[1:].lower() for word in others)


CASES: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "title": _titled,
    "capitalize": str.capitalize,
    "swap": str.swapcase,
    "snake": lambda text: "_".join(words(text)).lower(),
    "kebab": lambda text: "-".join(words(text)).lower(),
    "camel": _camel,
    "pascal": _pascal,
}
