"""Work at a queue and its store that outlasts a lost connection, as when PostgreSQL restarts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

import anyio
import anyio.to_thread
from typing_extensions import override

from ...errors import StoreError

if TYPE_CHECKING:
    from procrastinate import PsycopgConnector

__all__ = ["Steadiness", "is_lost", "steady_connector", "stored"]

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
    from psycopg import OperationalError

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


class Steadiness:
    """How long statements at a queue are tried again while the server is away: until ``gives_up``."""

    def __init__(self) -> None:
        self.gives_up: Callable[[], bool] = lambda: False

    async def again(
        self,
        work: Callable[[], Awaitable[_T]],
        between: Callable[[], Awaitable[None]],
        first: Callable[[], Awaitable[None]] | None = None,
    ) -> _T:
        """What ``work`` gives, statements of procrastinate; ``between`` follows one that failed, ``first``
        goes before one that is tried again. Raises ``ConnectorException``."""
        from procrastinate.exceptions import ConnectorException

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
            await between()


def steady_connector(steady: Steadiness) -> PsycopgConnector:
    """Procrastinate's connector, whose statements are tried again as ``steady`` says.

    A job that was fetched when the connection was lost is nobody's: it goes back to the queue.
    """
    from procrastinate import PsycopgConnector
    from procrastinate.exceptions import ConnectorException
    from procrastinate.sql import queries

    held: set[int] = set()

    class Connector(PsycopgConnector):
        @override
        async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
            work = partial(super().execute_query_async, query, **arguments)
            try:
                await steady.again(work, self.pool.check)
            except ConnectorException as error:
                # written before the connection was lost, or the job is another worker's by now
                if "job_id" not in arguments or getattr(error.__cause__, "sqlstate", None) != _NOT_ITS_JOB:
                    raise
            held.discard(arguments.get("job_id", 0))

        @override
        async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
            work = partial(super().execute_query_one_async, query, **arguments)
            if query != queries["fetch_job"]:
                return await steady.again(work, self.pool.check)
            first = partial(
                _give_back, super().execute_query_all_async, super().execute_query_async, arguments, held
            )
            found: dict[str, Any] = await steady.again(work, self.pool.check, first)
            held.update([found["id"]] if found["id"] is not None else [])
            return found

        @override
        async def execute_query_all_async(
            self, query: LiteralString, **arguments: Any
        ) -> list[dict[str, Any]]:
            return await steady.again(
                partial(super().execute_query_all_async, query, **arguments), self.pool.check
            )

    return Connector()


async def _give_back(
    every: Callable[..., Awaitable[list[dict[str, Any]]]],
    do: Callable[..., Awaitable[None]],
    fetch: Mapping[str, Any],
    held: set[int],
) -> None:
    """Put back the jobs that the worker of ``fetch`` was given without knowing of it, not those ``held``."""
    from procrastinate.sql import queries

    nothing_else: dict[str, Any] = {"new_priority": None, "new_queue_name": None, "new_lock": None}
    for row in await every(_UNKNOWN, worker=fetch["worker_id"], held=list(held)):
        await do(queries["retry_job"], job_id=row["id"], retry_at=datetime.now(UTC), **nothing_else)
