"""The question at a terminal whether a call may be made: what it shows, and its answers."""

from __future__ import annotations

from .question import TerminalPerson

__all__ = ["TerminalPerson"]
