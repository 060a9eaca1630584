"""File names for users, conversations and whatever else may have any name."""

from __future__ import annotations

import hashlib
import re

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_RESERVED = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)))
)
_SLUG = 40


def file_name(text: str) -> str:
    """The file name of ``text``: itself, or as much of it as is readable, ``~`` and 32 digits of its hash.

    Different texts have different names, also where the file system ignores case or joins Unicode's forms
    of a letter. Each is one step of a path, of at most 73 letters, digits, ``_``, ``-`` and ``~``.
    """
    if _PLAIN.match(text) and text not in _RESERVED:
        return text
    readable = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_SLUG]
    return f"{readable}~{hashed(text)[:32]}"


def hashed(text: str) -> str:
    """The SHA-256 of ``text``, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
