"""What ends a run over all of its workers: its cost and its time."""

from __future__ import annotations

from uuid import uuid4

import anyio

from ..runs.limits import Ended
from .connection import Queue

__all__ = ["SharedBudget"]

_SPENT = """
    SELECT coalesce(sum(usd), 0)::float AS usd, coalesce(sum(known), 0)::float AS known,
        coalesce(
            sum(running) FILTER (WHERE seen > now() - %(lease)s * interval '1 second'), 0
        )::float AS running
    FROM toolspan_queue_spending WHERE run = %(run)s
"""
_SAVE = """
    INSERT INTO toolspan_queue_spending AS spent (run, worker, usd, known, running)
    VALUES (%(run)s, %(worker)s, %(usd)s, %(known)s, %(running)s)
    ON CONFLICT (run, worker) DO UPDATE
    SET usd = excluded.usd, known = excluded.known, running = excluded.running, seen = now()
"""


class SharedBudget:
    """What ``run`` may still spend: ``usd`` US dollars over all workers, ``None`` for any amount.

    As ``Budget``, the cost of trials that are running is taken to be the mean of those that ended. What a
    worker runs counts for ``lease`` seconds after it was last heard of, what it spent for ever: each of these
    has a row of its own, which it writes in the order in which its counts change. Raises as ``Queue.rows``.
    """

    def __init__(self, queue: Queue, run: str, usd: float | None, lease: float) -> None:
        self._queue = queue
        self._limit = usd
        self._lease = lease
        self._key = {"run": run, "worker": uuid4().hex}
        self._usd = 0.0
        self._known = self._running = 0
        self._saving = anyio.Lock()
        self._changes = self._saved = 0

    async def begin(self) -> Ended:
        """Why no further trial may begin; where it is empty, one has begun."""
        if self._limit is None:
            return ""
        [spent] = await self._queue.rows(_SPENT, {**self._key, "lease": self._lease})
        mean = spent["usd"] / spent["known"] if spent["known"] else 0.0
        if spent["usd"] + spent["running"] * mean >= self._limit:
            return "max_cost"
        self._running += 1
        await self._save()
        return ""

    async def finished(self, usd: float | None) -> None:
        """A trial that had begun has ended, and cost so much; ``None`` is not known."""
        if self._limit is not None:
            self._running -= 1
            self._known += usd is not None
            self._usd += usd or 0.0
            await self._save()

    async def _save(self) -> None:
        """Write the counts as they are, unless a later writer has taken this change along."""
        self._changes += 1
        change = self._changes
        async with self._saving:
            if self._saved < change:
                changes = self._changes
                own = {"usd": self._usd, "known": self._known, "running": self._running}
                await self._queue.rows(_SAVE, {**self._key, **own})
                self._saved = changes
