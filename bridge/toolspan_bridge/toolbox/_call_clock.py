"""How long a call may take."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class CallClock:
    """``seconds`` for one call, from ``running`` on. The time in which somebody here is asked does not count;
    with ``most``, the seconds begin anew with each report of progress, until ``most`` have passed."""

    def __init__(self, seconds: float, most: float | None = None) -> None:
        self._seconds = seconds
        self._most = most
        self._end = math.inf
        self._scope: anyio.CancelScope | None = None
        self._asking = 0
        self._left = seconds

    @contextmanager
    def running(self) -> Generator[None]:
        """The block is cancelled when the time is over. Raises ``TimeoutError``."""
        now = anyio.current_time()
        self._end = now + (self._seconds if self._most is None else max(self._most, self._seconds))
        with anyio.fail_after(self._seconds) as self._scope:
            yield

    @contextmanager
    def asking(self) -> Generator[None]:
        """Nothing counts in the block."""
        if self._asking == 0:
            self._stop()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if self._asking == 0:
                self._go_on()

    def progress(self) -> None:
        """The call reports progress."""
        if self._most is not None and self._scope is not None and not self._asking:
            self._scope.deadline = min(anyio.current_time() + self._seconds, self._end)

    def _stop(self) -> None:
        if self._scope is not None:
            now = anyio.current_time()
            self._left, self._end = self._scope.deadline - now, self._end - now
            self._scope.deadline = math.inf

    def _go_on(self) -> None:
        if self._scope is not None:
            now = anyio.current_time()
            self._scope.deadline, self._end = now + self._left, self._end + now
