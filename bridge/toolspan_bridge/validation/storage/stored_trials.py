"""The trials of records in the store beside a config, read as they are; it need not be writable."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...errors import StoreError
from ..evidence.records import Record
from .reading import has_column, read_only
from .trial import Trial

__all__ = ["MOST_TRIALS", "with_trials"]

MOST_TRIALS = 5_000
"""The last trials of each record that are read."""

_LAST = (
    "SELECT scenario, timestamp, success, error, details FROM trials "
    "WHERE model_id = ? AND suite = ? AND fingerprint = ? ORDER BY id DESC LIMIT ?"
)


def with_trials(path: Path, records: Iterable[Record]) -> list[Record]:
    """``records`` of the store at ``path`` with their last ``MOST_TRIALS`` trials, oldest first; those
    without a fingerprint stay without.

    Raises ``StoreError`` when it cannot be read.
    """
    wanted = list(records)

    def read(connection: sqlite3.Connection) -> list[Record]:
        marked = has_column(connection, "trials", "fingerprint")
        return [_filled(connection, record) for record in wanted] if marked else wanted

    try:
        return read_only(path, read) if wanted else []
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"the validation store {path} cannot be read: {error}") from None


def _filled(connection: sqlite3.Connection, record: Record) -> Record:
    mark = record.fingerprint
    if mark is None:
        return record
    found = connection.execute(_LAST, (record.model_id, record.suite, mark.digest, MOST_TRIALS)).fetchall()
    trials = [
        Trial(record.model_id, record.suite, scenario, ended, bool(success), error, json.loads(details), mark)
        for scenario, ended, success, error, details in reversed(found)
    ]
    return replace(record, trials=tuple(trials))
