"""A document as every reader gives it: a title, and sections under headings."""

from __future__ import annotations

from dataclasses import dataclass

HEADING_CHARACTERS = 200
"""A longer heading is cut in heading paths; its whole text stays in the section."""


class UnreadableFile(Exception):
    """A file cannot be part of a collection. The message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class Section:
    """Text under a heading path, such as ``("Guide", "Install")``."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """What was read of one file. ``title`` is empty when the file has none."""

    title: str
    sections: tuple[Section, ...]


class Outline:
    """Builds a document from headings and text in reading order."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._text: list[str] = []
        self._sections: list[Section] = []
        self._title = ""

    def heading(self, level: int, text: str) -> None:
        """Start the section ``text``; it ends every open one of the same or a deeper level."""
        text = " ".join(text.split())
        deeper = bool(self._open) and level > self._open[-1][0]
        self._close(keep_empty=not deeper)
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        short = text
        if len(text) > HEADING_CHARACTERS:
            short = text[:HEADING_CHARACTERS] + "…"
            self._text.append(text + "\n\n")
        self._open.append((level, short))
        self._title = self._title or short

    def text(self, text: str) -> None:
        """Add ``text`` as it is to the open section."""
        self._text.append(text)

    def document(self, title: str = "") -> Document:
        """The document, titled by its first heading, else by ``title``."""
        self._close(keep_empty=True)
        return Document(self._title or title, tuple(self._sections))

    def _close(self, *, keep_empty: bool) -> None:
        text = "".join(self._text).strip("\n")
        self._text.clear()
        headings = tuple(heading for _, heading in self._open if heading)
        if text.strip() or (keep_empty and headings):
            self._sections.append(Section(headings, text))
