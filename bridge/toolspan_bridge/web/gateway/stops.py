"""The texts that end an answer, looked for here, since not every provider knows them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["StopTexts"]


class StopTexts:
    """Lets through the text before the first of ``stops``; ``found`` is that one, empty as long as none came.

    What may be the beginning of one is held until more of the text is known.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.found = ""

    def feed(self, text: str) -> str:
        """What of the text so far may be shown now, beyond what was shown before."""
        if self.found:
            return ""
        whole = self._held + text
        places = [(place, stop) for stop in self._stops if (place := whole.find(stop)) >= 0]
        if places:
            place, self.found = min(places)
            self._held = ""
            return whole[:place]
        kept = self._beginning(whole)
        self._held = whole[len(whole) - kept :]
        return whole[: len(whole) - kept]

    def close(self) -> str:
        """What was held: the text has ended."""
        held, self._held = self._held, ""
        return held

    def _beginning(self, whole: str) -> int:
        """How many of the last characters may begin one of the stops."""
        longest = max((len(stop) for stop in self._stops), default=0)
        for length in range(min(longest - 1, len(whole)), 0, -1):
            if any(stop.startswith(whole[-length:]) for stop in self._stops):
                return length
        return 0
