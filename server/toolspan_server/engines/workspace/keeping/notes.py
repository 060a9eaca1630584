"""What the tools of a workspace note for a conversation: its plan mode, its list of tasks."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ....calls.caller import Caller
from ....errors import ToolFailure
from .database import STATE_ACTION, is_missing, opened, reason_of, storable

MOST_NOTES = 10_000
"""Notes of all conversations that are kept; the oldest are dropped beyond."""


class Notes:
    """JSON values by names, for each conversation of each user, in the SQLite file ``path``.

    Methods block; any thread may call them. They raise ``ToolFailure`` (``state_failed``).
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, caller: Caller, name: str) -> Any:
        """The value of ``name``; ``None`` without one."""
        if is_missing(self._path):
            return None
        with self._database() as database:
            row: tuple[str] | None = database.execute(
                "SELECT value FROM notes WHERE user = ? AND conversation = ? AND name = ?",
                (storable(caller.user), storable(caller.conversation), name),
            ).fetchone()
        return None if row is None else json.loads(row[0])

    def set(self, caller: Caller, name: str, value: Any) -> Any:
        """Let ``name`` have ``value``, none when that is ``None``; gives the earlier value."""
        key = (storable(caller.user), storable(caller.conversation), name)
        with self._database() as database:
            database.execute("BEGIN IMMEDIATE")
            row: tuple[str] | None = database.execute(
                "SELECT value FROM notes WHERE user = ? AND conversation = ? AND name = ?", key
            ).fetchone()
            if value is None:
                database.execute("DELETE FROM notes WHERE user = ? AND conversation = ? AND name = ?", key)
            else:
                database.execute(
                    "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?)",
                    (*key, json.dumps(value), time.time()),
                )
                database.execute(
                    "DELETE FROM notes WHERE at < (SELECT at FROM notes ORDER BY at DESC LIMIT 1 OFFSET ?)",
                    (MOST_NOTES - 1,),
                )
        return None if row is None else json.loads(row[0])

    @contextmanager
    def _database(self) -> Generator[sqlite3.Connection]:
        try:
            with opened(self._path) as database:
                yield database
        except (OSError, sqlite3.Error) as error:
            raise ToolFailure(
                "The state of the conversation cannot be read or kept",
                error_code="state_failed",
                user_action=STATE_ACTION,
                detail=f"{self._path}: {reason_of(error)}",
            ) from None
