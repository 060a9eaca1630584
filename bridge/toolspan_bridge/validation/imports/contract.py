"""What an importer gives: scenarios in our own words, and what could not be taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..suites import Suite

__all__ = ["Found", "Imported", "LeftOut", "NotTaken"]


class NotTaken(Exception):
    """A part of a file has no equal in a suite; the message says why."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was not taken: its ``place`` (``file:line:column``), and why."""

    place: str
    why: str


@dataclass(slots=True)
class Found:
    """What an importer found: ``scenarios`` as a suite's file has them, what is ``left_out``, and ``notes``
    about the whole."""

    scenarios: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Imported:
    """A ``suite`` made of another program's file, its ``contents`` as data, and what was ``left_out``,
    and ``notes`` about the whole."""

    suite: Suite
    contents: Mapping[str, Any]
    left_out: Sequence[LeftOut]
    notes: Sequence[str] = ()
