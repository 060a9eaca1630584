"""Reads a store in SQLite without SQLAlchemy, and without making, locking or examining it: it need not be
writable."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from .file import opened, refuse_other

__all__ = ["has_column", "has_table", "read_only"]

_T = TypeVar("_T")


def read_only(path: Path, read: Callable[[sqlite3.Connection], _T]) -> _T:
    """What ``read`` reads of the store at ``path``, of this or an earlier version.

    Raises ``sqlite3.Error``, and ``StoreError`` for a newer store and another program's database.
    """
    try:
        return _read(path, "ro", read)
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "") != "SQLITE_READONLY_DIRECTORY":
            raise
        # SQLite has no place for its side files, and says so only where no other process has made them.
        return _read(path, "ro&immutable=1", read)


def _read(path: Path, mode: str, read: Callable[[sqlite3.Connection], _T]) -> _T:
    with closing(opened(path, mode)) as connection:
        connection.execute("BEGIN")  # all that is read is of one moment
        refuse_other(path, connection)
        return read(connection)


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether there is such a table."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def has_column(connection: sqlite3.Connection, table: str, name: str) -> bool:
    """Whether ``table`` has such a column."""
    found = connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, name))
    return found.fetchone() is not None
