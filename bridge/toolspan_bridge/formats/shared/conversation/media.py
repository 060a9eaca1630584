"""Media types that providers take, and how the first bytes of a file show its type."""

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
    """The type that the first bytes of a file show; empty where they show none of ``IMAGES`` and ``PDF``."""
    return next((kind for magic, kind in _MAGIC if re.match(magic, head, re.DOTALL)), "")
