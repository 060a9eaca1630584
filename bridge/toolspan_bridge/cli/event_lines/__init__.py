"""The events of a question as lines of JSON (``ask --jsonl``), and the JSON Schema of a line."""

from __future__ import annotations

from ...sessions.event_data import event_data
from .schema import line_schema
from .writer import JsonLines

__all__ = ["JsonLines", "event_data", "line_schema"]
