"""reStructuredText: headings by underline, or by overline and underline. Directives stay as text."""

from __future__ import annotations

import re
from threading import Event

from .._document import Document, Outline
from ._decoding import decode

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_SHORTEST = 4
"""Docutils accepts an underline that is shorter than its title from this length on."""
_NOTHING = ("", "", 0)


def read(data: bytes, stop: Event) -> Document:
    """Read reStructuredText. A style of line is one level deeper than the styles seen before it."""
    lines = decode(data).split("\n")
    outline = Outline()
    styles: list[str] = []
    at = 0
    free = True
    while at < len(lines):
        style, title, taken = _heading(lines, at) if free else _NOTHING
        free = bool(taken) or not lines[at].strip()
        if taken:
            if style not in styles:
                styles.append(style)
            outline.heading(styles.index(style) + 1, title)
        else:
            outline.text(lines[at] + "\n")
        at += taken or 1
    return outline.document()


def _heading(lines: list[str], at: int) -> tuple[str, str, int]:
    """The style, title and number of lines of the heading that starts at ``at``; no lines if none does."""
    first, second, third = (*lines[at : at + 3], "", "", "")[:3]
    if over := _ADORNMENT.match(first):
        matched = second.strip() and third.rstrip() == first.rstrip() and not _ADORNMENT.match(second)
        return (over[1] * 2, second, 3) if matched and _long_enough(first, second) else _NOTHING
    under = _ADORNMENT.match(second)
    if under is None or not first.strip() or first[0].isspace() or not _long_enough(second, first):
        return _NOTHING
    return under[1], first, 2


def _long_enough(adornment: str, title: str) -> bool:
    return len(adornment.rstrip()) >= min(len(title.strip()), _SHORTEST)
