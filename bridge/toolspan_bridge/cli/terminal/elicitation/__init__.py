"""Questions of servers, put to the person at the terminal: forms to fill in, and pages to visit."""

from __future__ import annotations

from .person import TerminalElicitor, UnattendedElicitor

__all__ = ["TerminalElicitor", "UnattendedElicitor"]
