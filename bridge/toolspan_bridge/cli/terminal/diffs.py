"""Unified diffs in colours."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Line", "coloured"]

Line = tuple[str, str | None]
"""A line, and its colour if it has one."""

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def coloured(diff: Iterable[str]) -> list[Line]:
    """The lines of ``diff``, indented."""
    return [("  " + line.expandtabs(4), _COLOURS.get(line[:1])) for line in diff]
