"""The list of tasks as it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

TODOS = "todos"
"""The note that has the list."""


def counted(todos: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many there are of each status."""
    counts: dict[str, int] = {"pending": 0, "in_progress": 0, "completed": 0}
    for each in todos:
        counts[each["status"]] += 1
    return counts
