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

from ....calls.caller import Caller
from ....errors import ToolFailure
from .._limits import WorkspaceLimits
from ..opening.paths import Place
from .database import STATE_ACTION, is_missing, opened, reason_of, storable


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
        names = (storable(caller.user), storable(caller.conversation))
        values = (time.time(), *names, tool, place.shown, before, mode, digest_of(after))
        with self._database(
            "The checkpoint of the change cannot be kept, so nothing was changed"
        ) as database:
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
        """Drop a change that was not made after all. Raises ``ToolFailure``."""
        with self._database("A change that was not made cannot be dropped from the list") as database:
            database.execute("DELETE FROM changes WHERE id = ?", (number,))

    def changes(self, caller: Caller) -> list[Change]:
        """The changes of a conversation that were not undone, oldest first. Raises ``ToolFailure``."""
        if is_missing(self._path):
            return []
        with self._database("The changes of this conversation cannot be read") as database:
            rows: list[tuple[Any, ...]] = database.execute(
                "SELECT id, at, tool, path, before, mode, after FROM changes"
                " WHERE user = ? AND conversation = ? AND undone IS NULL ORDER BY id",
                (storable(caller.user), storable(caller.conversation)),
            ).fetchall()
        return [Change(*row) for row in rows]

    def paths(self) -> list[str]:
        """The paths of all changes that are kept, each once. Raises ``ToolFailure``."""
        if is_missing(self._path):
            return []
        with self._database("The changes cannot be read") as database:
            return [path for (path,) in database.execute("SELECT DISTINCT path FROM changes").fetchall()]

    def mark_undone(self, numbers: Iterable[int]) -> None:
        """Note that these changes were undone. Raises ``ToolFailure``."""
        with self._database("The files were restored, but that cannot be noted") as database:
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
    def _database(self, failure: str) -> Generator[sqlite3.Connection]:
        """The database; where it cannot be used, ``ToolFailure`` with the sentence ``failure``."""
        try:
            with opened(self._path) as database:
                yield database
        except (OSError, sqlite3.Error) as error:
            raise ToolFailure(
                failure,
                error_code="checkpoint_failed",
                user_action=STATE_ACTION,
                detail=f"{self._path}: {reason_of(error)}",
            ) from None
