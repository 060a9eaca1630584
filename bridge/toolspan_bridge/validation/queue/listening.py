"""Word from others at a queue: that something has changed, so that nobody has to ask all the time."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio

from ...errors import StoreError, UnreachableError
from .alongside import alongside
from .connection import Queue

__all__ = ["Changes", "listening", "tell"]

_CHANNEL = "toolspan_queue"
_AGAIN_S = 1.0


class Changes:
    """Whether something has changed since it was last waited for."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def happened(self) -> None:
        """Wake whoever waits."""
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a change, at most ``seconds``."""
        with anyio.move_on_after(seconds):
            await self._event.wait()
        self._event = anyio.Event()


@asynccontextmanager
async def listening(queue: Queue) -> AsyncGenerator[Changes]:
    """The changes at ``queue`` that are told while the block runs; none while it cannot be reached."""
    changes = Changes()
    async with alongside(partial(_listen, queue, changes)):
        yield changes


async def tell(queue: Queue) -> None:
    """Tell all who listen at ``queue`` of a change. Raises as ``Queue.rows``."""
    await queue.rows("SELECT pg_notify(%(channel)s, '')", {"channel": _CHANNEL})


async def _listen(queue: Queue, changes: Changes) -> None:
    while True:
        try:
            with queue.reporting():
                async with queue.alone() as connection:
                    await connection.execute(f"LISTEN {_CHANNEL}")
                    changes.happened()  # what was told before is not heard
                    async for _ in connection.notifies():
                        changes.happened()
        except (StoreError, UnreachableError):
            await anyio.sleep(_AGAIN_S)
