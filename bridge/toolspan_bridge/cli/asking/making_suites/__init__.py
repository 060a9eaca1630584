"""Suites that ``validate`` writes: made of tools, or taken from another program's file."""

from __future__ import annotations

from .options import suite_writing_options

__all__ = ["suite_writing_options"]
