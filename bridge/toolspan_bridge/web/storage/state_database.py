"""A SQLite file of state that several processes share, made when it is first needed. Imports SQLAlchemy."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine, MetaData, create_engine, event
from sqlalchemy.exc import SQLAlchemyError, StatementError
from sqlalchemy.pool import QueuePool

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import check_database, private_database

from ...errors import StoreError
from ...validation.storage.lock import locked
from ...validation.storage.reasons import is_damage

__all__ = ["StateDatabase"]

_T = TypeVar("_T")
_BUSY_SECONDS = 10.0
_CONNECTIONS = 16


class StateDatabase:
    """The file ``path`` with the tables of ``metadata``. Safe to share between threads; ``about`` names it
    for people.

    ``mark`` tells it from other programs' databases, ``version`` from those of a newer Toolspan. What was
    written outlives the end of the process, whatever ended it; the last moments may be lost when the machine
    loses power.

    Raises ``StoreError`` when the file cannot be read or written, is newer, or is none of ours.
    """

    def __init__(self, path: Path, metadata: MetaData, *, mark: int, version: int, about: str) -> None:
        self.path = path
        self._metadata = metadata
        self._mark = mark
        self._version = version
        self._about = about
        with self._reporting("open"):
            private_folder(path.parent)
            with locked(path.with_name(f"{path.name}.lock")):
                self._engine = self._opened()

    def read(self, work: Callable[[Connection], _T]) -> _T:
        """What ``work`` reads, all of one moment."""
        return self._done(work, "read", reading=True)

    def write(self, work: Callable[[Connection], _T]) -> _T:
        """Do ``work`` whole or not at all; no other process writes meanwhile."""
        return self._done(work, "write to", reading=False)

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    def _done(self, work: Callable[[Connection], _T], verb: str, *, reading: bool) -> _T:
        with self._reporting(verb), self._engine.connect() as plain:
            connection = plain.execution_options(reading=reading)
            with connection.begin():
                return work(connection)

    def _opened(self) -> Engine:
        private_database(self.path)
        engine = _engine(self.path)
        try:
            with engine.begin() as connection:
                self._make(connection)
        except BaseException:
            engine.dispose()
            raise
        return engine

    def _make(self, connection: Connection) -> None:
        """See to it that the tables are there, of this version."""
        mark = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if version > self._version:
            raise StoreError(
                f"{self._about} in {self.path}: written by a newer Toolspan (version {version}, this one "
                f"reads up to {self._version}); nothing was changed (update Toolspan, or choose another "
                "state_dir)"
            )
        is_empty = not connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").first()
        if mark != self._mark and not is_empty:
            raise StoreError(
                f"{self.path}: another program's database (move it away, or choose another state_dir)"
            )
        self._metadata.create_all(connection)
        connection.exec_driver_sql(f"PRAGMA application_id = {self._mark}")
        connection.exec_driver_sql(f"PRAGMA user_version = {self._version}")

    @contextmanager
    def _reporting(self, verb: str) -> Generator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            cause = error.orig if isinstance(error, StatementError) and error.orig else error
            if isinstance(cause, OSError):
                why = cause.strerror or str(cause)
            else:
                remedy = " (restore it from a copy, or move it away)" if is_damage(cause) else ""
                why = f"{cause}{remedy}"
            raise StoreError(f"cannot {verb} {self._about} in {self.path}: {why}") from cause


def _engine(path: Path) -> Engine:
    engine = create_engine(
        "sqlite://", creator=lambda: _connected(path), poolclass=QueuePool, pool_size=_CONNECTIONS
    )

    def begin(connection: Connection) -> None:
        is_reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN DEFERRED" if is_reading else "BEGIN IMMEDIATE")

    event.listen(engine, "begin", begin)
    return engine


def _connected(path: Path) -> sqlite3.Connection:
    check_database(path)
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(
        uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection
