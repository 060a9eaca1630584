"""Plain text: one section without a heading."""

from __future__ import annotations

from threading import Event

from .._document import Document, Outline
from ._decoding import decode


def read(data: bytes, stop: Event) -> Document:
    """Read plain text."""
    outline = Outline()
    outline.text(decode(data))
    return outline.document()
