"""The timeout clock of one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

_AGAIN_S = 1.0


class Clock:
    """Runs for ``seconds`` from ``start``, except while ``held``; expires then, and again every second."""

    __slots__ = ("_expire", "_expired", "_handle", "_holds", "_left", "_loop")

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._holds = 0
        self._expired = False
        self._expire: Callable[[], None] | None = None
        self._handle: asyncio.TimerHandle | None = None

    def start(self, expire: Callable[[], None]) -> None:
        """Call ``expire`` when the time is over, until ``stop``."""
        self._loop = asyncio.get_running_loop()
        self._expire = expire
        self._run()

    def stop(self) -> None:
        """Stop: the call has ended."""
        self._expire = None
        self._pause()

    def hold(self) -> None:
        """Pause for good."""
        self._holds += 1
        if not self._expired:
            self._pause()

    @contextmanager
    def held(self) -> Generator[None]:
        """Pause during the block; an expired clock stays expired."""
        self.hold()
        try:
            yield
        finally:
            self._holds -= 1
            self._run()

    def _run(self) -> None:
        waits = self._holds and not self._expired
        if self._expire is not None and self._handle is None and not waits:
            self._handle = self._loop.call_later(self._left, self._over)

    def _pause(self) -> None:
        if self._handle is not None:
            self._left = max(0.0, self._handle.when() - self._loop.time())
            self._handle.cancel()
            self._handle = None

    def _over(self) -> None:
        self._handle = None
        self._expired = True
        self._left = _AGAIN_S
        if self._expire is not None:
            self._expire()
        self._run()
