"""The command line: ``toolspan VERB``."""

from __future__ import annotations

from .main import main

__all__ = ["main"]
