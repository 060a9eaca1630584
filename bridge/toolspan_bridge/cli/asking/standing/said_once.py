"""Notes that are printed once in a session, however often there is reason to."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...terminal.output import notes_are_printed, print_note


@dataclass(slots=True)
class SaidOnce:
    """The notes that were printed."""

    _said: set[str] = field(default_factory=set[str])

    def say(self, text: str) -> None:
        """Print ``text``, unless it is empty or was printed; where no notes are printed, it is not said."""
        if text and text not in self._said and notes_are_printed():
            self._said.add(text)
            print_note(text)
