"""The command line: ``toolspan VERB``. One module a verb; each is imported when it is called."""

from __future__ import annotations

from ._main import main

__all__ = ["main"]
