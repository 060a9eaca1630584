"""Shows a run's progress on a file: chooses the form that the file can show."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO

from ..events import Event, RunBegan
from .lines import Lines
from .tally import Tally

__all__ = ["Shown", "progress"]


class Shown:
    """Progress that is shown: called with each event of ``validate`` (``on_event``); ``begin`` is its
    ``on_begin``. ``tally`` is how far the run is."""

    def __init__(self, tally: Tally, on_change: Callable[[], None]) -> None:
        self.tally = tally
        self._on_change = on_change

    def __call__(self, event: Event) -> None:
        """Count what has happened."""
        self.tally.add(event)
        self._on_change()

    def changed(self) -> None:
        """Show the ``tally``, which was changed."""
        self._on_change()

    def begin(self, began: RunBegan) -> None:
        """Show the plan's rows."""
        self.tally.begin(began)
        self._on_change()


@contextmanager
def progress(file: IO[str]) -> Generator[Shown]:
    """The progress of a run on ``file`` while the block runs: a table that fills where it is a terminal, else
    a line now and then."""
    tally = Tally()
    if file.isatty():
        from rich.console import Console

        from .live import live

        console = Console(file=file, highlight=False, markup=False, emoji=False)
        if not console.is_dumb_terminal:
            with live(console, tally):
                yield Shown(tally, lambda: None)
            return
    yield Shown(tally, Lines(file, tally).changed)
