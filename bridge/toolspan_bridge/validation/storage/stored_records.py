"""The records in the store beside a config, read as they are; it need not be writable."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ...errors import StoreError
from ..evidence.counts import Counts
from ..evidence.records import Present, Record, judged
from ..fingerprint import Fingerprint
from .reading import has_column, has_table, read_only

__all__ = ["read_records"]

_COUNTED = (
    "SELECT model_id, suite, {mark}, count(*) - sum({error}), sum(success * (1 - {error})), sum({error}), "
    "min(timestamp), max(timestamp) FROM trials "
    "GROUP BY 1, 2, 3"
)


def read_records(path: Path, present: Present = lambda record: {}) -> list[Record]:
    """The records in the store at ``path``, without their trials, ``judged``; none where there is no store.

    Raises ``StoreError`` when it cannot be read.
    """
    try:
        return judged(read_only(path, _records), present) if path.exists() else []
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"the validation store {path} cannot be read: {error}") from None


def _records(connection: sqlite3.Connection) -> list[Record]:
    if not has_table(connection, "trials"):
        return []
    marked = has_column(connection, "trials", "fingerprint")
    texts = connection.execute("SELECT digest, parts FROM fingerprints").fetchall() if marked else []
    marks = {"": None, **{digest: Fingerprint.from_json(parts) for digest, parts in texts}}
    error = "is_error" if has_column(connection, "trials", "is_error") else "0"
    counted = connection.execute(_COUNTED.format(mark="fingerprint" if marked else "''", error=error))
    return [
        Record(model, suite, marks[digest], Counts(*numbers), first, last)
        for model, suite, digest, *numbers, first, last in counted
    ]
