"""A model's reasoning, folded into a line once it is over."""

from __future__ import annotations

import time

from toolspan_server.common.gathered_text import GatheredText

from .amounts import duration
from .folded import Folded
from .terminal import StyledTerminal

__all__ = ["Thoughts"]


class Thoughts:
    """The reasoning of one turn, on ``terminal``."""

    def __init__(self, terminal: StyledTerminal, folded: Folded) -> None:
        self._terminal = terminal
        self._folded = folded
        self._text = GatheredText()
        self._since: float | None = None

    def add(self, text: str) -> None:
        """More of it has come."""
        if self._since is None:
            self._since = time.monotonic()
        self._text.add(text)
        self._terminal.passing(("thinking …", "dim"))

    def end(self) -> None:
        """It is over, if there was any."""
        if self._since is None:
            return
        told = f"thought for {duration((time.monotonic() - self._since) * 1000)}"
        text, self._text, self._since = self._text.text.strip(), GatheredText(), None
        if not text:
            self._terminal.short_line((told, "dim"))
            return
        words = len(text.split())
        told += f", {words:,} word{'' if words == 1 else 's'}"
        if self._folded.whole:
            self._terminal.line((told, "dim"))
            self._terminal.line((text, "dim italic"))
            return
        number = self._folded.add("thoughts", text)
        self._terminal.short_line((told, "dim"), (f" · /show {number}", "dim"), kept=1)
