"""The best short piece of a passage."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

SNIPPET_CHARACTERS = 300

OPEN, CLOSE = "\x01", "\x02"
"""What encloses a found word in a marked text. No text of a collection holds control characters."""

_MARKED = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_LEAD = 60


def snippet(marked: str, size: int = SNIPPET_CHARACTERS) -> str:
    """The piece of ``marked`` with the most different found words: one line of whole words without marks."""
    text, found = _unmarked(" ".join(marked.split()))
    if len(text) <= size:
        return text
    start = _start(text, _best(found, size - _LEAD))
    end = _end(text, start + size - 2)
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


def _unmarked(marked: str) -> tuple[str, list[tuple[int, str]]]:
    """The text without marks, and each found word with its place there."""
    found: list[tuple[int, str]] = []
    for match in _MARKED.finditer(marked):
        found.append((match.start() - 2 * len(found), match[1].casefold()))
    return marked.replace(OPEN, "").replace(CLOSE, ""), found


def _best(found: Sequence[tuple[int, str]], size: int) -> int:
    """Where the stretch of ``size`` characters with the most different words starts; the first of equals."""
    best, start, last = 0, 0, 0
    inside: Counter[str] = Counter()
    for place, word in found:
        while last < len(found) and found[last][0] < place + size:
            inside[found[last][1]] += 1
            last += 1
        if len(inside) > best:
            best, start = len(inside), place
        inside[word] -= 1
        if not inside[word]:
            del inside[word]
    return start


def _start(text: str, place: int) -> int:
    """A little before ``place``, where a sentence or else a word starts."""
    earliest = max(0, place - _LEAD)
    if earliest == 0:
        return 0
    sentence = text.rfind(". ", earliest, place)
    if sentence >= 0:
        return sentence + 2
    space = text.find(" ", earliest, place)
    return space + 1 if space >= 0 else place


def _end(text: str, latest: int) -> int:
    if latest >= len(text):
        return len(text)
    space = text.rfind(" ", latest // 2, latest + 1)
    return space if space > 0 else latest
