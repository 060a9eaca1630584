"""How connections to each sort of database are made, guarded and limited in time. Imports SQLAlchemy."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import QueuePool

_STEPS = 2_000
_CONNECT_SECONDS = 5
_LOOK_SECONDS = 0.1
_LONGEST_VALUE = 64 << 20
"""Bytes of the longest value, and row, that SQLite handles."""
_HARMLESS = frozenset(
    (
        "data_version",
        "foreign_key_list",
        "index_info",
        "index_list",
        "table_info",
        "table_list",
        "table_xinfo",
        "read_uncommitted",  # SQLAlchemy asks at its first connection; setting it changes no data
    )
)
_REFUSED = frozenset((sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH))


def engine_of(written: str, folder: Path, *, read_only: bool, pool_size: int) -> Engine:
    """The engine for the URL ``written``; a path of SQLite starts at ``folder``. Nothing is connected yet."""
    url = make_url(written)
    limits: dict[str, Any] = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": _CONNECT_SECONDS}
    match url.get_backend_name():
        case "sqlite":
            connect = _sqlite(folder / (url.database or ""), read_only=read_only)
            return create_engine("sqlite://", creator=connect, poolclass=QueuePool, **limits)
        case "postgresql" | "postgres":
            return create_engine(
                _with_psycopg(url), connect_args=_postgres(url, read_only), pool_pre_ping=True, **limits
            )
        case _:
            return create_engine(url, pool_pre_ping=True, **limits)


def begin(connection: Connection, *, read_only: bool, timeout_ms: int, stop: Callable[[], bool]) -> None:
    """Hold what ``connection`` does from now on to ``timeout_ms``, and to reading if it is ``read_only``.

    ``stop`` is asked while SQLite works: it ends the statement. Elsewhere, see ``ended``.
    """
    match connection.dialect.name:
        case "sqlite":
            _limit_sqlite(connection, timeout_ms, stop)
        case "postgresql":
            if read_only:
                connection.execute(text("SET TRANSACTION READ ONLY"))
            connection.execute(text(f"SET LOCAL statement_timeout = {int(timeout_ms)}"))
        case _:
            pass


@contextmanager
def ended(connection: Connection, stop: Callable[[], bool]) -> Generator[None]:
    """End what ``connection`` does in the block once ``stop`` says so, where its driver can (psycopg).

    The connection is not used again then: the end could come to what is next.
    """
    cancel = getattr(connection.connection.driver_connection, "cancel", None)
    if cancel is None or connection.dialect.name == "sqlite":
        yield
        return
    done, cancelled = threading.Event(), threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK_SECONDS):
            if stop():
                cancelled.set()
                with suppress(Exception):  # what cannot be ended runs into its time limit
                    cancel()
                return

    watching = threading.Thread(target=watch, name="toolspan statement", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()
        if cancelled.is_set():
            connection.invalidate()


def was_interrupted(error: BaseException | None) -> bool:
    """Whether ``error``, the driver's, says that the time was over."""
    return getattr(error, "sqlstate", None) == "57014" or (
        isinstance(error, sqlite3.OperationalError) and str(error) == "interrupted"
    )


def _sqlite(path: Path, *, read_only: bool) -> Callable[[], sqlite3.Connection]:
    mode = "ro" if read_only else "rw"
    location = f"file:{quote(str(path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(location, uri=True, check_same_thread=False, timeout=_CONNECT_SECONDS)
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            connection.execute("PRAGMA foreign_keys = ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.set_authorizer(_guard)
        return connection

    return connect


def _guard(
    action: int, first: str | None, _second: str | None, _database: str | None, _by: str | None
) -> int:
    """No statement reaches another file, loads code, or changes how the connection works."""
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if first in _HARMLESS else sqlite3.SQLITE_DENY
    loads = action == sqlite3.SQLITE_FUNCTION and _second == "load_extension"
    return sqlite3.SQLITE_DENY if loads or action in _REFUSED else sqlite3.SQLITE_OK


def _limit_sqlite(connection: Connection, timeout_ms: int, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + timeout_ms / 1000
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    driver.set_progress_handler(lambda: int(stop() or time.monotonic() >= end), _STEPS)


def _with_psycopg(url: URL) -> URL:
    return url if "+" in url.drivername else url.set(drivername="postgresql+psycopg")


def _postgres(url: URL, read_only: bool) -> dict[str, Any]:
    own = (
        {} if "options" in url.query or not read_only else {"options": "-c default_transaction_read_only=on"}
    )
    return {"connect_timeout": _CONNECT_SECONDS, **own}
