"""A worker's presence at a queue: who is there, and in which lanes it takes no part."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

import anyio

from toolspan_server.common.visible import visible_line

from ...errors import BridgeError, StoreError, UnreachableError
from .alongside import alongside
from .connection import Queue

__all__ = ["Presence"]

_SIGNS_IN_A_LEASE = 3

_HERE = """
    INSERT INTO toolspan_queue_workers (id, name, lease) VALUES (%(id)s, %(name)s, %(lease)s)
    ON CONFLICT (id) DO UPDATE SET seen = now()
"""
_GONE = "DELETE FROM toolspan_queue_workers WHERE id = %(id)s"
_LONG_GONE = "DELETE FROM toolspan_queue_workers WHERE seen < now() - interval '1 day'"
_REFUSED = """
    INSERT INTO toolspan_queue_refusals (lane, worker, code, reason)
    VALUES (%(lane)s, %(id)s, %(code)s, %(reason)s)
    ON CONFLICT (lane, worker) DO UPDATE SET code = excluded.code, reason = excluded.reason, since = now()
"""


class Presence:
    """The worker ``name`` at ``queue``, which counts as there for ``lease`` seconds after each sign of
    life."""

    def __init__(self, queue: Queue, name: str, lease: float) -> None:
        self.id = uuid4().hex
        self._queue = queue
        self._values = {"id": self.id, "name": name, "lease": lease}
        self._lease = lease

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        """The worker is there while the block runs. Raises as ``Queue.rows``."""
        await self._queue.rows(_HERE, self._values)
        await self._queue.rows(_LONG_GONE)
        try:
            async with alongside(self._give_signs):
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._leave()

    async def refuse(self, lane: str, error: BridgeError) -> None:
        """Say that the worker takes no part in ``lane``, and why. Raises as ``Queue.rows``."""
        refused = {"lane": lane, "code": error.code, "reason": visible_line(error.message)}
        await self._queue.rows(_REFUSED, {**self._values, **refused})

    async def _leave(self) -> None:
        try:
            await self._queue.rows(_GONE, self._values)
        except (StoreError, UnreachableError):
            return  # it counts as gone once its lease is over

    async def _give_signs(self) -> None:
        while True:
            await anyio.sleep(self._lease / _SIGNS_IN_A_LEASE)
            try:
                await self._queue.rows(_HERE, self._values)
            except (StoreError, UnreachableError):
                continue  # the worker's own work meets it too, and tells it
