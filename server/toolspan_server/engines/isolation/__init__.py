"""Handlers in worker processes: what they hold, use up or break costs the server nothing.

A worker is a Python process that imports the handler's module, makes one call at a time, and says what came
of it over its standard input and output, as JSON. What ends late is ended with every process that it made.
"""

from __future__ import annotations

from ._limits import ProcessLimits

__all__ = ["ProcessLimits"]
