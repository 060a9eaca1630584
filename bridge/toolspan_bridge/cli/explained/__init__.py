"""The entries of docs/reference/errors.md, each found by its code or by a message."""

from __future__ import annotations

from .entries import Entry, entries
from .finding import found_by

__all__ = ["Entry", "entries", "found_by"]
