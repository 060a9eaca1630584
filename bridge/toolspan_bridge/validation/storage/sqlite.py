"""A store in a file of SQLite: made whole or not at all, locked, examined. Imports SQLAlchemy."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, insert
from sqlalchemy.pool import QueuePool

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import (
    private_database,
    private_file,
    remove_private,
    rename_private,
    stat_private,
    sync_folder,
)

from ...errors import StoreError
from .examination import is_damaged, refuse_foreign
from .file import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    SIDE_FILES,
    STORE_FILE,
    opened,
    set_aside,
    sibling,
    suspicion,
)
from .lock import locked
from .migrations import upgrade
from .tables import METADATA, version

__all__ = ["copied", "opened_sqlite"]

_POOL = 16


def opened_sqlite(path: Path) -> Engine:
    """The engine of the file ``path``, made with its folder where there is none, migrated, and set aside
    when it is damaged.

    Raises ``StoreError`` for a newer store, another program's database and any other file; ``OSError``,
    ``sqlite3.Error`` and ``SQLAlchemyError``.
    """
    refuse_foreign(path)
    private_folder(path.parent)
    with locked(path.with_name(f"{path.name}.lock")):
        _prepare(path)
        engine = _engine(path)
        with engine.connect():  # a file system without a write-ahead log is told at once
            return engine


def copied(path: Path, backup: Path) -> None:
    """Copy the whole store at ``path`` to ``backup``. Raises ``sqlite3.Error`` and ``OSError``."""
    with closing(opened(path, "rw")) as source, closing(sqlite3.connect(private_database(backup))) as copy:
        source.backup(copy)
    sync_folder(backup.parent)


def _prepare(path: Path) -> None:
    """See to it that ``path`` is a sound store, made anew where there is none. Hold the lock meanwhile.

    A damaged one is renamed first. Raises ``StoreError`` for a newer store and another program's database.
    """
    is_there = stat_private(path) is not None
    orphaned_log = (
        path.name == STORE_FILE and not is_there and stat_private(sibling(path, "-wal")) is not None
    )
    if orphaned_log or (is_there and is_damaged(path)):
        set_aside(path)
    remove_private(suspicion(path))
    if stat_private(path) is not None:
        private_database(path)
        _migrate(path)
    else:
        _create(path)


def _create(path: Path) -> None:
    fresh = path.with_name(f"{path.name}.new")
    for suffix in SIDE_FILES:
        remove_private(sibling(fresh, suffix))
    engine = _engine(private_file(fresh))
    try:
        with engine.begin() as connection:
            METADATA.create_all(connection, checkfirst=False)
            connection.execute(insert(version).values(version_num=f"{SCHEMA_VERSION:04}"))
            _sign(connection)
    finally:
        engine.dispose()
    rename_private(fresh, path)
    sync_folder(path.parent)


def _migrate(path: Path) -> None:
    """Bring a store of an earlier version up to this one, whole or not at all."""
    with closing(opened(path, "rw")) as plain:
        found: int = plain.execute("PRAGMA user_version").fetchone()[0]
    if found == SCHEMA_VERSION:
        return
    engine = _engine(path)
    try:
        with engine.begin() as connection:
            upgrade(connection, found)
            _sign(connection)
    finally:
        engine.dispose()


def _sign(connection: Connection) -> None:
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _engine(path: Path) -> Engine:
    """Connections to ``path``, each transaction begun as ``begin`` says: ``IMMEDIATE``, or ``DEFERRED`` for
    those that have the option ``reading``."""
    engine = create_engine(
        "sqlite://",
        creator=lambda: _connected(path),
        poolclass=QueuePool,
        pool_size=_POOL,
        max_overflow=-1,
    )

    def begin(connection: Connection) -> None:
        is_reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN DEFERRED" if is_reading else "BEGIN IMMEDIATE")

    event.listen(engine, "begin", begin)
    return engine


def _connected(path: Path) -> sqlite3.Connection:
    """A connection with a write-ahead log, where every commit is on the disk before it counts."""
    connection = opened(path, "rw")
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(
                f"{path}: this file system does not support SQLite's write-ahead log (use a local disk)"
            )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
    except BaseException:
        connection.close()
        raise
    return connection
