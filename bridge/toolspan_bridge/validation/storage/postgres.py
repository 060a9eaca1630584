"""A store in a database of PostgreSQL, which several machines may write. Imports SQLAlchemy."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, make_url, select, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, ProgrammingError

from ...errors import StoreError
from .file import SCHEMA_VERSION, newer
from .migrations import upgrade
from .places import Place
from .reasons import LOCK_SECONDS, STATEMENT_SECONDS
from .tables import METADATA, version

__all__ = ["is_there", "opened_postgres"]

_CONNECT_SECONDS = 10
_LOCK = 0x746F6F6C7370616E  # "toolspan"
_SETTINGS = (
    f"SET statement_timeout = '{STATEMENT_SECONDS}s'",
    f"SET lock_timeout = '{LOCK_SECONDS}s'",
    "SET client_encoding = 'UTF8'",
    # A trial is told as kept once it is on the disk, whatever is usual in this database.
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'",
)


def opened_postgres(place: Place) -> Engine:
    """The engine of the database at ``place``, whose tables are made or migrated first.

    Raises ``StoreError`` for tables of a newer version, for those of another program, and where psycopg is
    not installed; ``SQLAlchemyError``.
    """
    engine = _engine(place)
    try:
        _prepare(engine, place.shown)
    except BaseException:
        engine.dispose()
        raise
    return engine


def is_there(place: Place) -> bool:
    """Whether the database at ``place`` has a store. Raises as ``opened_postgres``."""
    engine = _engine(place)
    try:
        with engine.begin() as connection:
            return _version(connection, place.shown) is not None
    finally:
        engine.dispose()


def _engine(place: Place) -> Engine:
    try:
        url = make_url(place.url).set(drivername="postgresql+psycopg")
        waits: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, "application_name": "toolspan"}
        dead: dict[str, Any] = {"keepalives_idle": 30, "tcp_user_timeout": 30_000}
        own = {name: value for name, value in {**waits, **dead}.items() if name not in url.query}
        pool: dict[str, Any] = {"pool_size": 4, "max_overflow": 8, "pool_timeout": LOCK_SECONDS}
        engine = create_engine(url, connect_args=own, pool_pre_ping=True, **pool)
    except ImportError:
        raise StoreError(
            f"the validation store {place.shown} needs the package psycopg: pip install 'toolspan[postgres]'"
        ) from None
    except (ArgumentError, NoSuchModuleError, ValueError, TypeError):
        raise StoreError(f"the URL of the validation store cannot be read: {place.shown}") from None

    def connected(connection: Any, _record: object) -> None:
        before, connection.autocommit = connection.autocommit, True
        for statement in _SETTINGS:
            connection.execute(statement)
        connection.autocommit = before

    event.listen(engine, "connect", connected)
    return engine


def _prepare(engine: Engine, shown: str) -> None:
    """See to it that the tables are there and of this version."""
    with engine.begin() as connection:
        if _version(connection, shown) == SCHEMA_VERSION:
            return
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        found = _version(connection, shown)
        if found is None:
            METADATA.create_all(connection, checkfirst=False)
            connection.execute(insert(version).values(version_num=f"{SCHEMA_VERSION:04}"))
        elif found < SCHEMA_VERSION:
            upgrade(connection, found)


def _version(connection: Connection, shown: str) -> int | None:
    """The version of the store in the first schema of the search path; ``None`` where there is none.

    Raises ``StoreError`` for a newer one, and where another program has tables of these names.
    """
    names = sorted(METADATA.tables)
    found = connection.execute(
        text(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = ANY(:names)"
        ),
        {"names": names},
    )
    there = set(found.scalars())
    numbers = _numbers(connection) if version.name in there else []
    if there and (len(numbers) != 1 or not numbers[0].isdecimal()):
        others = ", ".join(sorted(there))
        raise StoreError(
            f"{shown}: another program has tables of these names: {others} (make a schema for the store, and "
            "write it into the URL: ?options=-csearch_path%3DSCHEMA)"
        )
    if numbers and int(numbers[0]) > SCHEMA_VERSION:
        raise StoreError(newer(shown, int(numbers[0])))
    return int(numbers[0]) if numbers else None


def _numbers(connection: Connection) -> list[str]:
    try:
        with connection.begin_nested():
            return [str(each) for each in connection.execute(select(version.c.version_num)).scalars()]
    except ProgrammingError:  # a table of that name, but with other columns
        return []
