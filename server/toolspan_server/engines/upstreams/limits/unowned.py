"""What a server sent last that belongs to no request."""

from __future__ import annotations

import time


class Unowned:
    """What a server sent last that belongs to no request, and when."""

    def __init__(self) -> None:
        self._text = ""
        self._at = 0.0

    def note(self, text: str) -> None:
        """Keep ``text``, which goes on from the server's name: ``sent …``."""
        self._text, self._at = text, time.monotonic()

    def since(self, moment: float) -> str:
        """What was noted since ``moment`` of ``time.monotonic``, if something was."""
        return self._text if self._at >= moment else ""
