"""Notes that are shown once in a session, however often there is reason to."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..host import Host


@dataclass(slots=True)
class SaidOnce:
    """The notes that were shown."""

    _said: set[str] = field(default_factory=set[str])

    def say(self, text: str, host: Host) -> None:
        """Tell ``host`` the ``text``, unless it is empty or was shown; where no notes are shown, it is not
        said."""
        if text and text not in self._said and host.shows_notes:
            self._said.add(text)
            host.note(text)
