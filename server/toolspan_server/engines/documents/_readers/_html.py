"""HTML: its text under its headings, without scripts, styles and navigation."""

from __future__ import annotations

import time
from threading import Event
from typing import TYPE_CHECKING

from .._document import Document, Outline, UnreadableFile
from ._decoding import decode

if TYPE_CHECKING:
    from ._html_text import HtmlText

SECONDS = 5.0
"""The longest that one file may take: broken markup can cost the parser time that grows with its square."""

_PIECE = 8 * 1024
_OPEN_END = 8 * 1024
"""How much of unfinished markup ``close`` may parse again and again."""


def read(data: bytes, stop: Event) -> Document:
    """Read HTML; the title is the first heading, else ``<title>``."""
    from ._html_text import HtmlText

    outline = Outline()
    parser = HtmlText(outline)
    try:
        _feed(parser, decode(data), stop)
    except (AssertionError, ValueError) as error:
        raise UnreadableFile(f"markup that cannot be parsed ({error})") from None
    parser.finish()
    return outline.document(parser.title)


def _feed(parser: HtmlText, text: str, stop: Event) -> None:
    deadline = time.monotonic() + SECONDS
    for start in range(0, len(text), _PIECE):
        if stop.is_set():
            raise UnreadableFile("stopped")
        if time.monotonic() > deadline:
            raise UnreadableFile(f"markup that takes longer than {SECONDS:g} s to parse")
        parser.feed(text[start : start + _PIECE])
    if len(parser.rawdata) > _OPEN_END:
        raise UnreadableFile("markup that is opened and never closed")
    parser.close()
