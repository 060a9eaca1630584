"""The pace of requests to each account at a provider, shared by all workers of a queue.

As in one process, nothing is limited until a request is refused: then all requests of all workers pause, go
on at the pace at which they were answered, and become faster with each answer. What is shared stands in one
row for each account, which is read and written in short transactions; answers are counted there twice a
second.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, LiteralString

import anyio

from toolspan_server.common.retry_waits import backoff

from ...errors import UnreachableError
from ...providers.http.rate_limits import PATIENCE, RateLimiter
from .connection import Queue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg.rows import DictRow

__all__ = ["SharedLimiter", "SharedLimiters"]

_EVERY_S = 0.5
_AGAIN_S = 1.0
_IDLE_S = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_SPARE = 1.25

# {answers} answers came since the last time: each makes the pause 2 % shorter.
_COUNTED = """
    answers = pace.answers + %(answers)s,
    pause = CASE WHEN pace.pause * 0.98 ^ %(answers)s < 0.001 THEN 0 ELSE pace.pause * 0.98 ^ %(answers)s END,
    last_answer = CASE WHEN %(answers)s > 0 THEN clock_timestamp() ELSE pace.last_answer END,
    refusals = CASE WHEN %(answers)s > 0 THEN 0 ELSE pace.refusals END
"""
_STANDING = """
    pause, extract(epoch FROM next - clock_timestamp())::float AS next,
    extract(epoch FROM paused_until - clock_timestamp())::float AS paused
"""
_BEGIN = """
    INSERT INTO toolspan_queue_paces AS pace (account) VALUES (%(account)s)
    ON CONFLICT (account) DO UPDATE SET
        counting_since = clock_timestamp(), answers = 0, last_answer = clock_timestamp()
        WHERE pace.last_answer < clock_timestamp() - %(idle)s * interval '1 second'
        AND pace.paused_until < clock_timestamp()
"""
_COUNT = f"""
    UPDATE toolspan_queue_paces AS pace SET {_COUNTED} WHERE account = %(account)s RETURNING {_STANDING}
"""
_RESERVE = f"""
    WITH free AS (
        SELECT account, greatest(next, clock_timestamp()) AS start
        FROM toolspan_queue_paces WHERE account = %(account)s FOR UPDATE
    )
    UPDATE toolspan_queue_paces AS pace
    SET {_COUNTED}, next = free.start + pace.pause * interval '1 second'
    FROM free WHERE pace.account = free.account
    RETURNING extract(epoch FROM free.start - clock_timestamp())::float AS wait, pause,
        extract(epoch FROM pace.next - clock_timestamp())::float AS next,
        extract(epoch FROM paused_until - clock_timestamp())::float AS paused
"""
_READ = """
    SELECT pause, refusals, answers,
        extract(epoch FROM clock_timestamp() - counting_since)::float AS counted,
        extract(epoch FROM clock_timestamp() - last_answer)::float AS unanswered,
        extract(epoch FROM paused_until - clock_timestamp())::float AS paused
    FROM toolspan_queue_paces WHERE account = %(account)s FOR UPDATE
"""
_SLOWER = """
    UPDATE toolspan_queue_paces
    SET pause = %(pause)s, refusals = refusals + 1, counting_since = clock_timestamp(), answers = 0
    WHERE account = %(account)s
"""
_PAUSE = """
    UPDATE toolspan_queue_paces
    SET paused_until = greatest(paused_until, clock_timestamp() + %(seconds)s * interval '1 second'),
        next = greatest(next, clock_timestamp() + %(seconds)s * interval '1 second')
    WHERE account = %(account)s
"""


class SharedLimiter:
    """The limiter of ``account`` in ``queue``: of all workers there together. While the queue does not answer
    it waits. Raises ``StoreError``."""

    def __init__(self, queue: Queue, account: str) -> None:
        self._queue = queue
        self._account = account
        self._answers = 0
        self._limited = False
        self._paused_until = -math.inf
        self._admitted = -math.inf

    async def admit(self) -> None:
        """Wait until the next request may be sent; nothing is asked of the queue while nothing is limited."""
        idle = anyio.current_time() - self._admitted > _IDLE_S
        self._admitted = anyio.current_time()
        if idle:
            await self._rows(_BEGIN, {"account": self._account, "idle": _IDLE_S})
            await self.count()
        while self._limited:
            [found] = await self._rows(_RESERVE, self._values())
            self._learn(found)
            if found["wait"] <= 0:
                return
            await anyio.sleep(found["wait"])
            if anyio.current_time() >= self._paused_until:
                return

    async def answered(self) -> None:
        """A request was answered: the pace rises a little, once ``count`` tells it."""
        self._answers += 1

    async def refused(self, asked: float | None) -> bool:
        """Pause all requests of all workers; whether this one is sent again: not where nothing was answered
        for long."""
        await self.count()
        async with self._queue.transaction() as connection:
            found = await (await connection.execute(_READ, {"account": self._account})).fetchone()
            assert found is not None
            seconds = asked or backoff(_FIRST_PAUSE, found["refusals"] + 1, _LONGEST_PAUSE)
            if seconds + found["unanswered"] > PATIENCE:
                return False
            if found["paused"] <= 0:
                measured = found["counted"] / max(found["answers"], 1) * _SPARE
                pause = min(max(found["pause"], measured), _LONGEST_PAUSE)
                await connection.execute(_SLOWER, {"account": self._account, "pause": pause})
            await connection.execute(_PAUSE, {"account": self._account, "seconds": seconds})
        await self.count()
        return True

    async def count(self) -> None:
        """Tell the others of the answers since the last time, and learn whether requests are held back."""
        for found in await self._rows(_COUNT, self._values()):
            self._learn(found)

    @property
    def is_idle(self) -> bool:
        """Whether no request was admitted lately."""
        return anyio.current_time() - self._admitted > _IDLE_S

    async def _rows(self, query: LiteralString, values: dict[str, Any]) -> list[DictRow]:
        """What ``query`` gives, once the queue answers: to wait is what a limiter does."""
        while True:
            try:
                return await self._queue.rows(query, values)
            except UnreachableError:
                await anyio.sleep(_AGAIN_S)

    def _values(self) -> dict[str, Any]:
        answers, self._answers = self._answers, 0
        return {"account": self._account, "answers": answers}

    def _learn(self, found: Mapping[str, Any]) -> None:
        self._limited = found["pause"] > 0 or found["next"] > 0 or found["paused"] > 0
        self._paused_until = anyio.current_time() + found["paused"]


class SharedLimiters:
    """The limiter of each account in ``queue``. ``keep_in_step`` runs as long as they are used."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._limiters: dict[str, SharedLimiter] = {}

    def of(self, account: str, provider: str) -> RateLimiter:
        """The limiter of ``account``, always the same, at whatever ``provider``."""
        return self._limiters.setdefault(account, SharedLimiter(self._queue, account))

    async def keep_in_step(self) -> None:
        """Tell of answers and learn of refusals twice a second, until cancelled. Raises ``StoreError``."""
        while True:
            await anyio.sleep(_EVERY_S)
            for limiter in list(self._limiters.values()):
                if not limiter.is_idle:
                    await limiter.count()
