"""The SQLite side of the validation store: statements in, ``StoreError`` out."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from toolspan_server.common.private_files import private_folder

from ..errors import StoreError
from ._lock import locked
from ._store_file import (
    BUSY_SECONDS,
    COLUMNS,
    checksum,
    opened,
    prepare,
    set_aside_notices,
)

Row = tuple[str, str, str, str, int, str, str]
"""A trial's values, in the order of ``COLUMNS``."""

_INSERT = f"INSERT INTO trials ({', '.join(COLUMNS)}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM trials WHERE ?1 IS NULL OR model_id = ?1 ORDER BY id"
_CHOOSE = "INSERT OR REPLACE INTO wordings (model_id, choice) VALUES (?, ?)"
_COUNT = "SELECT count(*), coalesce(sum(success), 0) FROM trials WHERE model_id = ?"

_DAMAGED = "it is damaged (the next start sets it aside under another name)"
_REASONS = {
    "SQLITE_FULL": "the disk is full (make room, then try again)",
    "SQLITE_IOERR": "the disk does not take or give the data (is it full, over quota or failing?)",
    "SQLITE_READONLY": "it is read-only (check its permissions and its folder's)",
    "SQLITE_CANTOPEN": "it cannot be opened (check its permissions and its folder's)",
    "SQLITE_PERM": "permission denied (check its permissions and its folder's)",
    "SQLITE_BUSY": f"another process has held it for {BUSY_SECONDS:g} s (end it, or try again)",
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _DAMAGED,
}


class Database:
    """An open store file. Safe to share between threads. ``notices`` names each store that was set aside."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._reporting_errors("open"):
            private_folder(path.parent)
            with locked(path.with_name(f"{path.name}.lock")):
                prepare(path)
                self._connection = _connected(path)
        self._identity = _identity(path)
        self.notices = set_aside_notices(path)

    def insert(self, row: Row) -> None:
        """Write ``row``: when this returns it is on the disk."""
        with (
            self._lock,
            self._reporting_errors("write to", "; this trial is not recorded, earlier ones are intact"),
        ):
            self._check_identity("trial")
            self._connection.execute(_INSERT, (*row, checksum(row)))

    def choose(self, model_id: str, choice: str) -> None:
        """Write the choice of a wording for a model, in place of an earlier one."""
        with self._lock, self._reporting_errors("write to", "; the choice of a wording is not recorded"):
            self._check_identity("choice of a wording")
            self._connection.execute(_CHOOSE, (model_id, choice))

    def rows(self, model_id: str | None) -> list[Row]:
        """Every row, or those of one model, oldest first."""
        with self._lock, self._reporting_errors("read"):
            return self._connection.execute(_SELECT, (model_id,)).fetchall()

    def count(self, model_id: str) -> tuple[int, int]:
        """How many trials of the model there are, and how many of them succeeded."""
        with self._lock, self._reporting_errors("read"):
            trials, successes = self._connection.execute(_COUNT, (model_id,)).fetchone()
            return trials, successes

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _check_identity(self, what: str) -> None:
        if _identity(self.path) != self._identity:
            raise StoreError(
                f"{self.path}: this file was removed or replaced while in use; the {what} is not recorded "
                "(run again)"
            )

    @contextmanager
    def _reporting_errors(self, verb: str, consequence: str = "") -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            why = _reason(error)
            raise StoreError(f"cannot {verb} the validation store {self.path}: {why}{consequence}") from error
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreError(f"cannot {verb} the validation store {self.path}: {why}{consequence}") from error


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


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return (status.st_dev, status.st_ino)


def _reason(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    for prefix, words in _REASONS.items():
        if name.startswith(prefix):
            return words
    return f"{error} ({name or type(error).__name__})"
