"""A run: which trials were planned, so that one that was killed goes on where it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Run"]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a plan.

    ``plan`` is the hash of what is run: two runs of the same plan put the same trials under the same numbers.
    ``started`` and ``finished`` are times (ISO 8601 UTC, milliseconds), ``finished`` is empty until every
    planned trial is in the store. ``contents`` is what whoever goes on with it needs, as a JSON object.
    """

    id: str
    plan: str
    started: str
    finished: str = ""
    contents: Mapping[str, Any] = field(default_factory=dict[str, Any])
