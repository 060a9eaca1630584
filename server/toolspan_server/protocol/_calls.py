"""The calls that run right now."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio


class Calls:
    """Counts running calls, so that the end of the server can wait for them."""

    def __init__(self) -> None:
        self._count = 0
        self._none = anyio.Event()

    @contextmanager
    def running(self) -> Generator[None]:
        """One call, from its start to its result or cancellation."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def finished(self, seconds: float) -> None:
        """Return when no call runs, after ``seconds`` at the latest."""
        with anyio.move_on_after(seconds):
            while self._count:
                self._none = anyio.Event()
                await self._none.wait()
