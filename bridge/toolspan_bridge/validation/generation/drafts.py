"""A scenario before it is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .subjects import Subject

__all__ = ["Draft"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A ``query`` and what is expected of the answer, as a suite's ``expect``.

    ``said`` are the values that the query must contain, however it is worded. Offered are the tools
    ``offered``, by name, and those that the scenario itself has ``defined``; where there are neither, all.
    ``results`` has for a tool what its calls give, one after another; an ``Exception`` is a failure.
    """

    name: str
    category: str
    query: str
    expect: Mapping[str, Any]
    said: Sequence[str] = ()
    offered: Sequence[str] = ()
    defined: Sequence[Subject] = ()
    results: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    comment: str = ""
