"""Writes the events of a run on stdout as they happen, a line of JSON each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...events import Answer, End, Event
from ...sessions.event_data import event_data
from ..terminal.output import emit_json_line

__all__ = ["JsonLines"]


class JsonLines:
    """A ``Printer`` for programs: every event but the last is a line at once; ``end`` writes the last."""

    def show(self, event: Event) -> None:
        """Write the line of ``event``."""
        if not isinstance(event, End):
            emit_json_line(event_data(event))

    def end(self, answer: Answer, more: Mapping[str, Any]) -> None:
        """Write the last line: the ``answer``, and ``more`` of what is known of it."""
        emit_json_line({**event_data(End(answer)), **more})

    def close(self) -> None:
        """Nothing is ever left open."""
