"""Sections cut into passages, which is what a search finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ...common.json_values import shortened
from ._document import Document

PASSAGE_CHARACTERS = 1_500
"""The longest passage. A longer section becomes several under the same heading."""

MOST_PASSAGES = 20_000
"""The most passages of one document; what comes after is not found."""


PATH_CHARACTERS = 400
"""The longest heading path; of a longer one the middle is left out. It is kept with every passage."""

MOST_PATHS = 1_000_000
"""The most characters of all heading paths of a document. What comes after has only its last heading."""

_SHORT_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document. ``heading`` is the path to it, such as ``Guide > Install``."""

    heading: str
    text: str


def passages(document: Document) -> Iterator[Passage]:
    """Every passage of ``document`` in reading order; no text is lost but the space at the cuts."""
    found = _all_passages(document)
    yield from islice(found, MOST_PASSAGES)


def _all_passages(document: Document) -> Iterator[Passage]:
    left = MOST_PATHS
    for section in document.sections:
        heading = shortened(" > ".join(section.headings), PATH_CHARACTERS)
        for piece in pieces(section.text):
            left -= len(heading)
            if left < 0:
                heading = shortened("".join(section.headings[-1:]), _SHORT_CHARACTERS)
            yield Passage(heading, piece)


def pieces(text: str, size: int = PASSAGE_CHARACTERS) -> list[str]:
    """``text`` cut to at most ``size`` characters a piece: between paragraphs, else lines, else words."""
    found: list[str] = []
    start = 0
    while len(text) - start > size:
        cut = _cut(text, start, size)
        found.append(text[start:cut].strip("\n"))
        start = cut
    found.append(text[start:].strip("\n"))
    return [piece for piece in found if piece.strip()] or [""]


def _cut(text: str, start: int, size: int) -> int:
    for mark in ("\n\n", "\n", ". ", " "):
        at = text.rfind(mark, start + size // 4, start + size)
        if at > 0:
            return at + len(mark)
    return start + size
