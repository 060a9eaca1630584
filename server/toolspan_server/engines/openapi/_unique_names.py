"""Names of tools and arguments: what every client and model takes."""

from __future__ import annotations

import re

from ._description import Operation

LONGEST = 64
"""Longest name of a tool or argument: what model providers take."""


class UniqueNames:
    """Gives each name once, whatever its case."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def give(self, wanted: str) -> str:
        """``wanted``, with what a name cannot hold as ``_``, and a number when there is one already."""
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted).strip("_") or "unnamed"
        name, number = plain[:LONGEST], 2
        while name.lower() in self._given:
            end = f"_{number}"
            name, number = plain[: LONGEST - len(end)] + end, number + 1
        self._given.add(name.lower())
        return name


def name_of(operation: Operation) -> str:
    """What the operation calls itself, else its method and path."""
    return operation.id or f"{operation.method}{operation.path}"
