"""What a person is shown of a call, fitted to the terminal: whole, or with what was cut announced."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolspan_server.engines.definitions.call_preview import CallPreview, Row, RowStyle, Section

from ..diffs import Line

COLOURS: dict[RowStyle, str | None] = {
    "title": "yellow",
    "fact": "yellow",
    "warning": "red",
    "text": None,
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
}
_ANSWERS = 6
"""Rows below the call, for the answers and what is typed."""
_FEWEST = 8
_LEAST_OF_SECTION = 3
_MUST_BE_SEEN = frozenset(("code", "json"))


@dataclass(frozen=True, slots=True)
class View:
    """The lines of a call at a terminal. ``is_whole`` is false where some are left out, and ``may_allow``
    where a command, a path or the arguments are among these: then they have to be looked at first."""

    heading: list[Line]
    lines: list[Line]
    is_whole: bool = True
    may_allow: bool = True


def whole_view(question: CallPreview) -> View:
    """All of ``question``."""
    return View(_coloured(question.head_rows()), _coloured(_section_rows(question.sections)))


def fitted_view(question: CallPreview, columns: int, rows: int) -> View:
    """``question`` on a terminal of so many ``columns`` and ``rows``: each section begins on it, the first
    ones have most of it, and of one that is cut the last line says how much more there is."""
    heading = list(question.head_rows())
    room = max(_FEWEST, rows - _ANSWERS - _height(heading, columns))
    blocks = [section.rows() for section in question.sections]
    if sum(_height(block, columns) for block in blocks) <= room:
        return whole_view(question)
    lines: list[Row] = []
    is_whole = may_allow = True
    for number, (section, block) in enumerate(zip(question.sections, blocks, strict=True)):
        later = sum(min(_height(each, columns), _LEAST_OF_SECTION) for each in blocks[number + 1 :])
        share = max(_LEAST_OF_SECTION, room - later)
        shown = block if _height(block, columns) <= share else _cut(block, columns, share)
        if shown is not block:
            is_whole, may_allow = False, may_allow and section.kind not in _MUST_BE_SEEN
        room -= _height(shown, columns)
        lines += shown
    return View(_coloured(heading), _coloured(lines), is_whole, may_allow)


def _section_rows(sections: Sequence[Section]) -> Iterator[Row]:
    for section in sections:
        yield from section.rows()


def _coloured(rows: Iterator[Row] | list[Row]) -> list[Line]:
    return [(row.text, COLOURS[row.style]) for row in rows]


def _cut(block: list[Row], columns: int, share: int) -> list[Row]:
    """The first rows of ``block``, and a last one that says what is missing: ``share`` in all."""
    kept: list[Row] = []
    room = share - 1
    for row in block:
        if _height([row], columns) > room:
            break
        kept.append(row)
        room -= _height([row], columns)
    left = block[len(kept) :]
    characters = sum(len(row.text) for row in left)
    if room > 0 and len(left[0].text) > columns:
        part = left[0].text[: room * columns // 2]
        kept.append(Row(part, left[0].style))
        characters -= len(part)
    lines = f"{len(left):,} more lines" if len(left) > 1 else "1 more line"
    return [*kept, Row(f"    … {lines}, {characters:,} characters: press v", "hunk")]


def _height(rows: Sequence[Row], columns: int) -> int:
    """How many rows of a terminal these take."""
    return sum(max(1, math.ceil(_width(row.text) / max(1, columns))) for row in rows)


def _width(text: str) -> int:
    return len(text) + sum(unicodedata.east_asian_width(each) in "WF" for each in text if each > "\u10ff")


def wrapped(lines: Sequence[Line], columns: int) -> list[Line]:
    """``lines``, each of at most so many ``columns``."""
    return [
        (text[start : start + columns], colour)
        for text, colour in lines
        for start in range(0, max(1, len(text)), max(1, columns))
    ]
