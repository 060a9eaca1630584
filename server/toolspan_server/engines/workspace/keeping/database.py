"""The SQLite file of a workspace, which several processes share and a restart does not lose."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ....common.state.folder import private_folder
from ....common.state.private_files import private_database, stat_private

STATE_ACTION = "Ask the person to look at the server's state folder: the room on its disk, its permissions."

_BUSY_S = 10.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    user TEXT NOT NULL,
    conversation TEXT NOT NULL,
    tool TEXT NOT NULL,
    path TEXT NOT NULL,
    before BLOB,
    mode INTEGER,
    after TEXT,
    undone REAL
);
CREATE INDEX IF NOT EXISTS changes_of ON changes (user, conversation, id);
CREATE TABLE IF NOT EXISTS reads (
    user TEXT NOT NULL,
    conversation TEXT NOT NULL,
    path TEXT NOT NULL,
    digest TEXT,
    mark TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (user, conversation, path)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS reads_at ON reads (at);
CREATE TABLE IF NOT EXISTS notes (
    user TEXT NOT NULL,
    conversation TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (user, conversation, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS notes_at ON notes (at);
"""


@contextmanager
def opened(path: Path, *, lasting: bool = True) -> Generator[sqlite3.Connection]:
    """A transaction on the file ``path``, which is made when it is not there.

    What is ``lasting`` is on the disk when the block ends; else the last moments before a power failure may
    be lost. Raises ``OSError`` and ``sqlite3.Error``.
    """
    private_folder(path.parent)
    database = sqlite3.connect(private_database(path), timeout=_BUSY_S)
    try:
        database.execute("PRAGMA auto_vacuum = FULL")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
        database.executescript(_SCHEMA)
        with database:
            yield database
    finally:
        database.close()


def is_missing(path: Path) -> bool:
    """Whether nothing was kept yet. Not of a file that cannot be looked at: opening it says why."""
    try:
        return stat_private(path) is None
    except OSError:
        return False


def reason_of(error: OSError | sqlite3.Error) -> str:
    """Why the file could not be read or written. On a full disk SQLite can say no more than "I/O error"."""
    if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return f"{error} (is the disk full?)"
    return str(error)


def storable(name: str) -> str:
    """``name`` as SQLite takes it, which has no lone surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()
