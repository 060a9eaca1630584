"""A connection to a queue: procrastinate's jobs and our own tables in a database of PostgreSQL."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString

from ...errors import BridgeError, StoreError, UnreachableError, UsageError
from ..storage.places import Place, place_of
from .steady import Steadiness, is_lost, steady_connector

if TYPE_CHECKING:
    from procrastinate import App
    from psycopg import AsyncConnection
    from psycopg.rows import DictRow
    from psycopg_pool import AsyncConnectionPool

    Connection = AsyncConnection[DictRow]
    Pool = AsyncConnectionPool[Connection]

__all__ = ["Queue", "opened_queue", "queue_place"]

_CONNECT_SECONDS = 10
_IDLE_SECONDS = 30
_CONNECTIONS = 8
_ATTEMPTS = 3
_LOGGERS = ("procrastinate", "psycopg", "psycopg.pool")


def queue_place(url: str) -> Place:
    """Where the queue at ``url`` is. Raises ``UsageError`` for what is no URL of PostgreSQL."""
    try:
        place = place_of(url)
    except StoreError:
        place = None
    if place is None or not place.url:
        raise UsageError("a queue is in PostgreSQL: write --queue postgresql://USER:PASSWORD@HOST/DATABASE")
    return place


@dataclass(frozen=True, slots=True)
class Queue:
    """An open queue at ``place``: procrastinate's ``app``, a ``pool`` of connections that it shares, whose
    statements are each a transaction, and how ``steady`` it is while the server is away."""

    place: Place
    app: App
    pool: Pool
    steady: Steadiness

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[Connection]:
        """A connection of its own, beside the pool, whose statements are each a transaction. Raises
        ``psycopg.Error``."""
        from .schema import connected

        async with await connected(_address(self.place), _settings(self.place)) as connection:
            await connection.set_autocommit(True)
            yield connection

    async def rows(self, query: LiteralString, values: Mapping[str, Any] | None = None) -> list[DictRow]:
        """What ``query`` gives, a transaction by itself, done again where the connection was lost. Raises
        ``UnreachableError``, ``StoreError``."""
        from psycopg import OperationalError

        with self.reporting():
            for left in range(_ATTEMPTS - 1, -1, -1):
                try:
                    async with self.pool.connection() as connection:
                        cursor = await connection.execute(query, values or {})
                        return await cursor.fetchall() if cursor.description else []
                except OperationalError as error:
                    if not (left and is_lost(error)):
                        raise
                    await self.pool.check()
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Connection]:
        """A connection whose statements are done whole or not at all. Raises as ``rows``."""
        with self.reporting():
            async with self.pool.connection() as connection, connection.transaction():
                yield connection

    @contextmanager
    def reporting(self) -> Generator[None]:
        """Turn what fails of the database in the block into ``UnreachableError`` or ``StoreError``."""
        with _reporting(self.place):
            yield


@asynccontextmanager
async def opened_queue(url: str) -> AsyncGenerator[Queue]:
    """The queue at ``url``, ``postgresql://…``, while the block runs; its tables are made on first use.

    Raises ``UsageError`` where the packages are not installed or the URL is none, ``UnreachableError`` where
    nothing answers, ``StoreError`` for tables of another version.
    """
    place = queue_place(url)
    try:
        from procrastinate import App
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool

        from .schema import prepare
    except ImportError:
        raise UsageError(
            "a queue needs the packages procrastinate and psycopg: pip install 'toolspan[queue]'"
        ) from None
    for name in _LOGGERS:  # what they would write on stderr is told in words of ours
        logging.getLogger(name).addHandler(logging.NullHandler())
    address = _address(place)
    with _reporting(place):
        await prepare(address, place.shown, _settings(place))
    pool: Pool = AsyncConnectionPool(
        address,
        kwargs={**_settings(place), "row_factory": dict_row, "autocommit": True},
        min_size=1,
        max_size=_CONNECTIONS,
        timeout=_IDLE_SECONDS,
        open=False,
    )
    async with pool:
        steady = Steadiness()
        app = App(connector=steady_connector(steady))
        async with app.open_async(pool):
            yield Queue(place, app, pool, steady)


def _address(place: Place) -> str:
    return "postgresql://" + place.url.partition("://")[2]


def _settings(place: Place) -> dict[str, Any]:
    own = {"connect_timeout": _CONNECT_SECONDS, "application_name": "toolspan"}
    return {name: value for name, value in own.items() if f"{name}=" not in place.url}


@contextmanager
def _reporting(place: Place) -> Generator[None]:
    import psycopg
    from procrastinate.exceptions import ProcrastinateException
    from psycopg_pool import PoolTimeout

    try:
        yield
    except BridgeError:
        raise
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise UnreachableError(f"the queue {place.shown} does not answer: {_why(place, error)}") from None
    except (psycopg.Error, ProcrastinateException) as error:
        raise StoreError(f"the queue {place.shown} cannot be used: {_why(place, error)}") from None


def _why(place: Place, error: BaseException) -> str:
    cause = error.__cause__ or error
    lines = str(cause).strip().splitlines() or [type(cause).__name__]
    return place.without_secrets(lines[0])
