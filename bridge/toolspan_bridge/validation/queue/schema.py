"""The tables of a queue: made on first use, under a lock."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...errors import StoreError

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg.rows import DictRow

__all__ = ["connected", "prepare"]

_VERSION = 2
_LOCK = 0x746F6F6C71756575  # "toolqueu"
_FUNCTION = re.compile(r"CREATE FUNCTION (procrastinate_\w+)")

_TABLES = (
    "CREATE TABLE toolspan_queue_version (version integer PRIMARY KEY)",
    """
    CREATE TABLE toolspan_queue_runs (
        id text PRIMARY KEY,
        put timestamptz NOT NULL DEFAULT now(),
        ended text NOT NULL DEFAULT '',
        deadline timestamptz,
        usd double precision,
        parcel text NOT NULL
    )""",
    """
    CREATE TABLE toolspan_queue_workers (
        id text PRIMARY KEY,
        name text NOT NULL,
        seen timestamptz NOT NULL DEFAULT now(),
        lease double precision NOT NULL
    )""",
    """
    CREATE TABLE toolspan_queue_refusals (
        lane text NOT NULL,
        worker text NOT NULL REFERENCES toolspan_queue_workers ON DELETE CASCADE,
        code text NOT NULL,
        reason text NOT NULL,
        since timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (lane, worker)
    )""",
    """
    CREATE TABLE toolspan_queue_spending (
        run text NOT NULL REFERENCES toolspan_queue_runs ON DELETE CASCADE,
        worker text NOT NULL,
        usd double precision NOT NULL,
        held double precision NOT NULL,
        seen timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (run, worker)
    )""",
    """
    CREATE TABLE toolspan_queue_counts (
        run text NOT NULL REFERENCES toolspan_queue_runs ON DELETE CASCADE,
        worker text NOT NULL,
        model text NOT NULL,
        suite text NOT NULL,
        successes integer NOT NULL,
        failures integer NOT NULL,
        errors integer NOT NULL,
        usd double precision,
        PRIMARY KEY (run, worker, model, suite)
    )""",
    # What is lost of it in a crash of the database is learnt again from the next refused request.
    """
    CREATE UNLOGGED TABLE toolspan_queue_paces (
        account text PRIMARY KEY,
        pause double precision NOT NULL DEFAULT 0,
        next timestamptz NOT NULL DEFAULT 'epoch',
        paused_until timestamptz NOT NULL DEFAULT 'epoch',
        counting_since timestamptz NOT NULL DEFAULT clock_timestamp(),
        answers double precision NOT NULL DEFAULT 0,
        last_answer timestamptz NOT NULL DEFAULT clock_timestamp(),
        refusals integer NOT NULL DEFAULT 0
    )""",
)


async def connected(address: str, settings: dict[str, Any]) -> AsyncConnection[DictRow]:
    """A connection to the database at ``address``, whose rows are dicts. Raises ``psycopg.Error``."""
    import psycopg
    from psycopg.rows import dict_row

    opened: AsyncConnection[Any] = await psycopg.AsyncConnection.connect(address, **settings)
    opened.row_factory = dict_row
    return opened


async def prepare(address: str, shown: str, settings: dict[str, Any]) -> None:
    """See to it that the database at ``address`` has the tables of a queue, its own and procrastinate's.

    Raises ``StoreError`` for those of another version, which stay as they are; ``psycopg.Error``.
    """
    from procrastinate.schema import SchemaManager

    async with await connected(address, settings) as connection:
        if await _is_ready(connection, shown):
            return
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if await _is_ready(connection, shown):
            return
        if not await _has_table(connection, "procrastinate_jobs"):
            await connection.execute(SchemaManager.get_schema())
        for statement in _TABLES:
            await connection.execute(statement)
        await connection.execute("INSERT INTO toolspan_queue_version VALUES (%s)", (_VERSION,))


async def _is_ready(connection: AsyncConnection[DictRow], shown: str) -> bool:
    """Whether all tables are there. Raises ``StoreError`` for another version of them."""
    if await _has_table(connection, "procrastinate_jobs"):
        await _check_procrastinate(connection, shown)
    if not await _has_table(connection, "toolspan_queue_version"):
        return False
    found = await (await connection.execute("SELECT version FROM toolspan_queue_version")).fetchall()
    versions = [row["version"] for row in found]
    if versions != [_VERSION]:
        raise StoreError(
            f"the queue {shown} has tables of version {versions}, this Toolspan writes version {_VERSION} "
            "(use the same Toolspan everywhere, or another database)"
        )
    return await _has_table(connection, "procrastinate_jobs")


async def _has_table(connection: AsyncConnection[DictRow], name: str) -> bool:
    # to_regclass would remember, until the transaction ends, that there was none before the lock was ours.
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT FROM pg_class WHERE relname = %s AND pg_table_is_visible(oid)) AS there",
        (name,),
    )
    row = await cursor.fetchone()
    return bool(row and row["there"])


async def _check_procrastinate(connection: AsyncConnection[DictRow], shown: str) -> None:
    from procrastinate.schema import SchemaManager

    wanted = sorted(set(_FUNCTION.findall(SchemaManager.get_schema())))
    cursor = await connection.execute(
        "SELECT proname FROM pg_proc WHERE proname = ANY(%s) AND pg_function_is_visible(oid)", (wanted,)
    )
    there = {row["proname"] for row in await cursor.fetchall()}
    missing = [name for name in wanted if name not in there]
    if missing:
        raise StoreError(
            f"the queue {shown} has procrastinate's tables of another version ({missing[0]} is missing): "
            "apply procrastinate's migrations, or use another database"
        )
