"""A run's progress as lines, for logs and terminals that cannot be drawn on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import IO

from toolspan_server.common.visible import visible_line

from ..limits import duration_text
from .tally import Tally

__all__ = ["Lines", "line_of"]

_FIRST_S, _LATER_S, _OFTEN = 10.0, 60.0, 6


class Lines:
    """Writes a line to ``file`` every 10 seconds, from the sixth on every minute; of a short run none."""

    def __init__(self, file: IO[str], tally: Tally, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._tally = tally
        self._clock = clock
        self._next = clock() + _FIRST_S
        self._count = 0

    def changed(self) -> None:
        """Write a line if it is time for one."""
        now = self._clock()
        if now < self._next:
            return
        self._count += 1
        self._next = now + (_FIRST_S if self._count < _OFTEN else _LATER_S)
        self._file.write(f"toolspan: {visible_line(line_of(self._tally))}\n")
        self._file.flush()


def line_of(tally: Tally) -> str:
    """As in ``120 of 1,000 trials, 2 errors, about 3 min left``."""
    parts = [f"{tally.done:,} of {tally.planned:,} trials"]
    if tally.errors:
        parts.append(f"{tally.errors:,} error{'' if tally.errors == 1 else 's'}")
    left = tally.seconds_left
    if left is not None and tally.done < tally.planned:
        parts.append(f"about {duration_text(left)} left")
    return ", ".join(parts)
