"""Media types that providers accept, and their detection by a file's first bytes."""

from __future__ import annotations

import re

IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
PDF = frozenset({"application/pdf"})

_MAGIC = (
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF....WEBP", "image/webp"),
    (rb"%PDF-", "application/pdf"),
)


def media_type(head: bytes) -> str:
    """The type by a file's first bytes; empty when it is none of ``IMAGES`` and ``PDF``."""
    return next((kind for magic, kind in _MAGIC if re.match(magic, head, re.DOTALL)), "")
