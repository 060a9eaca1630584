"""What may be wrong with a description."""

from __future__ import annotations


class UnusableDescription(ValueError):
    """The description as a whole cannot be used. The message says why."""


class UnusableOperation(ValueError):
    """One operation cannot become a tool. The message says why."""
