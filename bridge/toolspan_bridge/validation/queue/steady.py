"""Work at a queue and its store that outlasts a lost connection, as when PostgreSQL restarts.

Imports procrastinate and psycopg.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, LiteralString, TypeVar

import anyio
import anyio.to_thread
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.sql import queries
from psycopg import OperationalError
from typing_extensions import override

from ...errors import StoreError

__all__ = ["SteadyConnector", "is_lost", "stored"]

_T = TypeVar("_T")
_AT_ONCE = 3
"""So often it is tried again at once: connections that wait in a pool are found dead one after another."""
_AGAIN_S = 1.0
_LOST = ("08", "40", "53300", "57P")
"""How PostgreSQL's states begin that pass: no connection, a collision, too many connections, a shutdown."""
_NOT_ITS_JOB = "P0001"

_UNKNOWN = """
    SELECT id FROM procrastinate_jobs
    WHERE status = 'doing' AND worker_id = %(worker)s AND NOT id = ANY(%(held)s)
"""


def is_lost(error: BaseException | None) -> bool:
    """Whether ``error`` of psycopg passes once the server is there again."""
    state = getattr(error, "sqlstate", None)
    return isinstance(error, OperationalError) and (not state or state.startswith(_LOST))


async def stored(work: Callable[[], _T], gives_up: Callable[[], bool]) -> _T:
    """What ``work`` gives, a call of a store that may block; while the server is away it is tried again,
    until ``gives_up``. Raises ``StoreError``."""
    while True:
        try:
            return await anyio.to_thread.run_sync(work)
        except StoreError as error:
            if gives_up() or not is_lost(error.__cause__):
                raise
        await anyio.sleep(_AGAIN_S)


class SteadyConnector(PsycopgConnector):
    """Procrastinate's statements, tried again while the server is away, until ``gives_up``.

    A job that was fetched when the connection was lost is nobody's: it goes back to the queue.
    """

    def __init__(self) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType] # of its JSON functions
        self.gives_up: Callable[[], bool] = lambda: False
        self._held: set[int] = set()

    @override
    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        try:
            await self._again(partial(super().execute_query_async, query, **arguments))
        except ConnectorException as error:
            # written before the connection was lost, or the job is another worker's by now
            if "job_id" not in arguments or getattr(error.__cause__, "sqlstate", None) != _NOT_ITS_JOB:
                raise
        self._held.discard(arguments.get("job_id", 0))

    @override
    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        work = partial(super().execute_query_one_async, query, **arguments)
        if query != queries["fetch_job"]:
            return await self._again(work)
        found: dict[str, Any] = await self._again(work, partial(self._give_back, arguments["worker_id"]))
        if found["id"] is not None:
            self._held.add(found["id"])
        return found

    @override
    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        return await self._again(partial(super().execute_query_all_async, query, **arguments))

    async def _again(
        self, work: Callable[[], Awaitable[_T]], first: Callable[[], Awaitable[None]] | None = None
    ) -> _T:
        """What ``work`` gives; before it is tried again ``first`` is done."""
        attempt = 0
        while True:
            try:
                if attempt and first is not None:
                    await first()
                return await work()
            except ConnectorException as error:
                attempt += 1
                if not is_lost(error.__cause__) or (attempt > _AT_ONCE and self.gives_up()):
                    raise
            if attempt > _AT_ONCE:
                await anyio.sleep(_AGAIN_S)
            await self.pool.check()

    async def _give_back(self, worker: int) -> None:
        """Put back the jobs that ``worker`` has been given without knowing of it."""
        values = {"worker": worker, "held": list(self._held)}
        for row in await super().execute_query_all_async(_UNKNOWN, **values):
            await super().execute_query_async(
                queries["retry_job"],
                job_id=row["id"],
                retry_at=datetime.now(UTC),
                new_priority=None,
                new_queue_name=None,
                new_lock=None,
            )
