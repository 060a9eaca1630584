"""How waits are shown, according to what stderr is."""

from __future__ import annotations

import os
import sys
from typing import IO, Protocol

from ..output import notes_are_printed, print_note
from .status_line import StatusLine

SOON = 0.3
"""Seconds after which a person at a terminal is told what is waited for."""
LATE = 10.0
"""Seconds after which a log or a pipe is told."""
_FRAME = 0.1


class Display(Protocol):
    """``after`` are the seconds of a wait before it is shown; ``again`` those to the next time, ``None`` for
    only once."""

    after: float
    again: float | None

    def show(self, text: str, seconds: float) -> None:
        """Show that ``text`` has been waited for, for ``seconds``."""
        ...

    def clear(self) -> None:
        """Nothing is waited for now."""
        ...


class Redrawn:
    """One line of a terminal, redrawn."""

    after: float = SOON
    again: float | None = _FRAME

    def __init__(self, file: IO[str]) -> None:
        self._line = StatusLine(file)

    def show(self, text: str, seconds: float) -> None:
        """Draw the line."""
        self._line.draw(f"waiting for {text}", duration(seconds))

    def clear(self) -> None:
        """Take the line away."""
        self._line.clear()


class ToldOnce:
    """A line that stays, for each wait of ``after`` seconds."""

    again: float | None = None

    def __init__(self, after: float) -> None:
        self.after = after

    def show(self, text: str, seconds: float) -> None:
        """Print the line."""
        since = f" ({duration(seconds)} so far)" if seconds >= 1 else ""
        print_note(f"waiting for {text}{since}")

    def clear(self) -> None:
        """The lines stay."""


def display_here() -> Display | None:
    """The display for stderr; ``None`` where no notes are printed."""
    if not notes_are_printed():
        return None
    if not sys.stderr.isatty():
        return ToldOnce(LATE)
    plain = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
    return ToldOnce(SOON) if plain else Redrawn(sys.stderr)


def duration(seconds: float) -> str:
    """``3 s``, ``1 min 5 s``."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
