"""The report as one HTML file that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from .page import render

__all__ = ["render"]
