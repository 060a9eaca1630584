"""The line at the bottom of a terminal that is redrawn, and taken away before anything else is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO

from toolspan_server.common.visible import visible_line

from ..width import columns_of

START_AND_CLEAR = "\r\x1b[J"
"""Takes away a line that was written with the cursor left at its beginning, also where the terminal became
narrower and broke it into several."""
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"


class StatusLine:
    """A line on ``file``, a terminal. The cursor stays at its beginning."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._frames = _FRAMES if "utf" in (getattr(file, "encoding", "") or "").lower() else _PLAIN_FRAMES
        self._count = 0
        self._drawn = False

    def draw(self, text: str, since: str) -> None:
        """Show ``text`` and ``since`` when instead of what the line showed before, cut to the terminal's
        width. While somebody else's line is at the bottom, that is told ``since`` when."""
        from rich.cells import cell_len, set_cell_size

        global _shown
        if _occupants:
            told = [again for again in _occupants.values() if again is not None]
            for again in told if len(told) == len(_occupants) else ():
                again(since)
            return
        frame = self._frames[self._count % len(self._frames)]
        self._count += 1
        line, end = f"{frame} {visible_line(text)}", f" · {since}"
        width = max(1, columns_of(self._file) - 1 - len(end))
        shown = (line if cell_len(line) <= width else set_cell_size(line, width)) + end
        shown = shown.encode(self._encoding(), "replace").decode(self._encoding())
        self._write(f"{START_AND_CLEAR}{shown}\r")
        self._drawn, _shown = True, self

    def clear(self) -> None:
        """Take the line away."""
        global _shown
        if self._drawn:
            self._drawn, _shown = False, None
            self._write(START_AND_CLEAR)

    def _encoding(self) -> str:
        return getattr(self._file, "encoding", None) or "utf-8"

    def _write(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()


_shown: StatusLine | None = None
_occupants: dict[int, Callable[[str], None] | None] = {}
_unfinished: set[int] = set()
_held: list[Callable[[], None]] = []


def occupy(writer: object, *, is_there: bool, again: Callable[[str], None] | None = None) -> None:
    """Whether the last line is one of ``writer``: a text that is not ended, or a line that it takes away
    itself; ``again`` then shows it with how long it has been waited for by now."""
    if is_there:
        _occupants[id(writer)] = again
        return
    _occupants.pop(id(writer), None)
    _write_what_may_be()


def unfinished(writer: object, *, is_there: bool) -> None:
    """Whether ``writer`` shows a text of several lines of which more is to come: nothing is put into it."""
    if is_there:
        _unfinished.add(id(writer))
        return
    _unfinished.discard(id(writer))
    _write_what_may_be()


def once_free(write: Callable[[], None]) -> None:
    """Call ``write``, which prints lines, when the last line is nobody's and no text is unfinished: now, or
    after its writer's end."""
    if _occupants or _unfinished:
        _held.append(write)
    else:
        write()


def _write_what_may_be() -> None:
    while _held and not (_occupants or _unfinished):
        _held.pop(0)()


def write_held() -> None:
    """Print what waits for the last line to be nobody's, whoever has it."""
    while _held:
        _held.pop(0)()


@contextmanager
def occupied() -> Generator[None]:
    """The last line is a person's, who types in it, in the block."""
    person = object()
    occupy(person, is_there=True)
    try:
        yield
    finally:
        occupy(person, is_there=False)


def cleared() -> None:
    """Take the line away that is shown now, if any is: before anything is printed, on stdout too."""
    if _shown is not None:
        sys.stdout.flush()
        _shown.clear()
