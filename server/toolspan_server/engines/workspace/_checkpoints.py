"""Checkpoints: what each change of a file replaced, kept so that it can be shown and undone.

They are in one SQLite file of the state folder, so that several processes share them and a restart loses
none. The oldest are dropped beyond the limits.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...calls.caller import Caller
from ...common.private_files import private_database, private_folder
from ...errors import ToolFailure
from ._limits import WorkspaceLimits
from ._paths import Place

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
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a file, number ``id``, ``at`` so many seconds since 1970, by ``tool``.

    ``path`` is in its one spelling. ``before`` is what the file held, ``None`` where there was none; ``mode``
    its mode then. ``after`` is the SHA-256 digest of what it held afterwards.
    """

    id: int
    at: float
    tool: str
    path: str
    before: bytes | None
    mode: int | None
    after: str


def digest_of(data: bytes | None) -> str | None:
    """The SHA-256 digest of a file's content; ``None`` of no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


class Checkpoints:
    """The changes of one workspace, in the SQLite file ``path``. Methods block; any thread may call them."""

    def __init__(self, path: Path, limits: WorkspaceLimits) -> None:
        self._path = path
        self._limits = limits

    def record(
        self, caller: Caller, tool: str, place: Place, before: bytes | None, mode: int | None, after: bytes
    ) -> int:
        """Keep what a change replaces, before it is made; gives its number. Raises ``ToolFailure``."""
        names = (_storable(caller.user), _storable(caller.conversation))
        values = (time.time(), *names, tool, place.shown, before, mode, digest_of(after))
        with self._database() as database:
            found = database.execute(
                "INSERT INTO changes (at, user, conversation, tool, path, before, mode, after)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            number = found.lastrowid
            self._prune(database)
        assert number is not None
        return number

    def forget(self, number: int) -> None:
        """Drop a change that was not made after all."""
        with self._database() as database:
            database.execute("DELETE FROM changes WHERE id = ?", (number,))

    def changes(self, caller: Caller) -> list[Change]:
        """The changes of a conversation that were not undone, oldest first."""
        if not self._path.exists():
            return []
        with self._database() as database:
            rows: list[tuple[Any, ...]] = database.execute(
                "SELECT id, at, tool, path, before, mode, after FROM changes"
                " WHERE user = ? AND conversation = ? AND undone IS NULL ORDER BY id",
                (_storable(caller.user), _storable(caller.conversation)),
            ).fetchall()
        return [Change(*row) for row in rows]

    def mark_undone(self, numbers: Iterable[int]) -> None:
        """Note that these changes were undone."""
        with self._database() as database:
            database.executemany(
                "UPDATE changes SET undone = ?, before = NULL WHERE id = ?",
                [(time.time(), number) for number in numbers],
            )

    def _prune(self, database: sqlite3.Connection) -> None:
        """Drop the oldest changes beyond the limits, never the latest."""
        rows = database.execute(
            "SELECT id, coalesce(length(before), 0) FROM changes ORDER BY id DESC"
        ).fetchall()
        size = 0
        for kept, (number, length) in enumerate(rows):
            size += length
            too_many = kept >= self._limits.checkpoints or size > self._limits.checkpoint_bytes
            if kept and too_many:
                database.execute("DELETE FROM changes WHERE id <= ?", (number,))
                return

    @contextmanager
    def _database(self) -> Generator[sqlite3.Connection]:
        try:
            private_folder(self._path.parent)
            database = sqlite3.connect(private_database(self._path), timeout=_BUSY_S)
            try:
                database.execute("PRAGMA auto_vacuum = FULL")
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = FULL")
                database.executescript(_SCHEMA)
                with database:
                    yield database
            finally:
                database.close()
        except (OSError, sqlite3.Error) as error:
            raise ToolFailure(
                "The checkpoint of the change cannot be kept, so nothing was changed",
                error_code="checkpoint_failed",
                user_action="Ask the person to look at the state folder of the server: its disk, its rights.",
                detail=f"{self._path}: {error}",
            ) from None


def _storable(name: str) -> str:
    """``name`` as SQLite takes it, which has no lone surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()
