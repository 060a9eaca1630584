"""What ends a run over all of its workers: its cost and its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
from typing_extensions import override

from ...errors import BridgeError
from ...loop.limits import Held, Spending
from ..runs.limits import Ended, limit_words
from .connection import Queue

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["QueueFailedError", "SharedBudget"]

_LOCK = "SELECT id FROM toolspan_queue_runs WHERE id = %(run)s FOR UPDATE"
_OTHERS = """
    SELECT coalesce(sum(usd), 0)::float AS usd, coalesce(sum(held), 0)::float AS held, coalesce(
            sum(held) FILTER (WHERE seen <= now() - %(lost)s * interval '1 second'), 0
        )::float AS lost
    FROM toolspan_queue_spending WHERE run = %(run)s AND worker <> %(worker)s
"""
_SAVE = """
    INSERT INTO toolspan_queue_spending AS spent (run, worker, usd, held)
    VALUES (%(run)s, %(worker)s, %(usd)s, %(held)s)
    ON CONFLICT (run, worker) DO UPDATE SET usd = excluded.usd, held = excluded.held, seen = now()
"""
_LOOKS_S = 0.5
_LEAST_LOST_S = 300.0


class QueueFailedError(Exception):
    """What a run spends cannot be read or written: ``error`` says why. It is no fault of a model."""

    def __init__(self, error: BridgeError) -> None:
        super().__init__(error.message)
        self.error = error


class SharedBudget(Spending):
    """The ``Spending`` of the trials of ``run`` over all workers: ``usd`` US dollars, or any amount.

    What is held and spent is in the database before a request is sent, each worker's in a row of its own.
    What a worker holds that is not heard of for ten ``lease`` seconds counts as spent. Raises
    ``QueueFailedError``.
    """

    def __init__(self, queue: Queue, run: str, usd: float | None, lease: float) -> None:
        super().__init__(usd, *limit_words(usd), shortens=False)
        self._queue = queue
        self._key = {"run": run, "worker": uuid4().hex, "lost": max(10 * lease, _LEAST_LOST_S)}
        self._known = 0.0
        self._writing = anyio.Lock()

    async def begin(self) -> Ended:
        """Why no further trial may begin; empty where one may."""
        if self.limit is None:
            return ""
        if not self.is_over:
            [others] = await self._queue.rows(_OTHERS, self._key)
            self.is_over = others["usd"] + others["lost"] + self._own >= self.limit
        return "max_cost" if self.is_over else ""

    async def finished(self, usd: float | None) -> None:
        """A trial that had begun has ended, and cost so much; ``None`` is not known."""
        if self.limit is not None:
            self._known += usd or 0.0
            await self._write()

    @override
    async def settle(self, held: Held, took: Held) -> None:
        """As ``Account`` says."""
        await super().settle(held, took)
        with anyio.CancelScope(shield=True):
            try:
                await self._write()
            except BridgeError as error:
                raise QueueFailedError(error) from None

    @override
    async def unspent(self) -> float | None:
        """As ``Account`` says, of all workers."""
        if self.limit is None:
            return None
        [others] = await self._queue.rows(_OTHERS, self._key)
        spent: float = others["usd"] + others["lost"] + self._own
        return max(0.0, self.limit - spent)

    @override
    async def _takes(self, wanted: float) -> bool:
        try:
            async with self._writing, self._queue.transaction() as connection:
                return await self._takes_at(connection, wanted)
        except BridgeError as error:
            if self.is_over:
                raise
            raise QueueFailedError(error) from None

    async def _takes_at(self, connection: Connection, wanted: float) -> bool:
        await connection.execute(_LOCK, self._key)
        [others] = await (await connection.execute(_OTHERS, self._key)).fetchall()
        spent = others["usd"] + others["lost"] + self._own
        self._check(wanted, spent)
        fits = self._fits(wanted, spent + others["held"] - others["lost"] + self._held)
        self._held += wanted if fits else 0.0
        await connection.execute(_SAVE, self._row)
        return fits

    @override
    async def _changes(self) -> None:
        with anyio.move_on_after(_LOOKS_S):
            await super()._changes()

    @property
    def _own(self) -> float:
        """What this worker spent; the trials of some say themselves what they cost."""
        return max(self._known, self.spent)

    @property
    def _row(self) -> Mapping[str, Any]:
        return {**self._key, "usd": self._own, "held": self._held}

    async def _write(self) -> None:
        async with self._writing:
            await self._queue.rows(_SAVE, self._row)
