"""What cannot be generated."""

from __future__ import annotations

from dataclasses import dataclass


class NotGenerated(Exception):
    """No scenario can be made of this; the message says why, as the end of a sentence about the tool."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A tool of which a ``category`` has no scenario, and why."""

    category: str
    tool: str
    why: str
