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
_SOUNDS = (
    (rb"RIFF....WAVE", "audio/wav"),
    (rb"ID3|\xff[\xfb\xfa\xf3\xf2]", "audio/mpeg"),
    (rb"fLaC", "audio/flac"),
    (rb"OggS", "audio/ogg"),
    (rb"FORM....AIF[FC]", "audio/aiff"),
    (rb"\xff[\xf1\xf9]", "audio/aac"),
)


def media_type(head: bytes) -> str:
    """The type by a file's first bytes; empty when it is none of ``IMAGES`` and ``PDF``."""
    return next((kind for magic, kind in _MAGIC if re.match(magic, head, re.DOTALL)), "")


def sound_type(head: bytes) -> str:
    """The type of a sound by the first bytes of its file; empty when it is none that a model takes."""
    return next((kind for magic, kind in _SOUNDS if re.match(magic, head, re.DOTALL)), "")
