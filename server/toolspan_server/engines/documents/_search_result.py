"""What a search gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. ``source`` is its file's path; a higher ``score`` is a better match."""

    source: str
    heading: str
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best hits, best first, and how many passages match in all."""

    total: int
    hits: tuple[Hit, ...]
