"""The time of waits: a seam, so that tests need not wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

Cancel = Callable[[], None]


class Clock(Protocol):
    """Seconds, and what is to be done at a later time."""

    def now(self) -> float:
        """Seconds from any start on, never fewer than before."""
        ...

    def later(self, seconds: float, call: Callable[[], None]) -> Cancel:
        """Call ``call`` in ``seconds``, unless what is returned is called first."""
        ...


class LoopClock:
    """The clock of the running event loop; outside of one, nothing is done later."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def later(self, seconds: float, call: Callable[[], None]) -> Cancel:
        """By a timer of the loop."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return lambda: None
        return loop.call_later(seconds, call).cancel
