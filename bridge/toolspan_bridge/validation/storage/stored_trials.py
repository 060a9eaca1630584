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
    "SELECT scenario, timestamp, success, error, details, {is_error} FROM trials "
    "WHERE model_id = ? AND suite = ? AND fingerprint = ? ORDER BY id DESC LIMIT ?"
)


def with_trials(path: Path, records: Iterable[Record]) -> list[Record]:
    """``records`` of the store at ``path`` with their last ``MOST_TRIALS`` trials, oldest first; those
    without a fingerprint stay without.

    Raises ``StoreError`` when it cannot be read.
    """
    wanted = list(records)

    def read(connection: sqlite3.Connection) -> list[Record]:
        if not has_column(connection, "trials", "fingerprint"):
            return wanted
        statement = _LAST.format(is_error="is_error" if has_column(connection, "trials", "is_error") else "0")
        return [_filled(connection, statement, record) for record in wanted]

    try:
        return read_only(path, read) if wanted else []
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"the validation store {path} cannot be read: {error}") from None


def _filled(connection: sqlite3.Connection, statement: str, record: Record) -> Record:
    model, suite, mark = record.model_id, record.suite, record.fingerprint
    if mark is None:
        return record
    found = connection.execute(statement, (model, suite, mark.digest, MOST_TRIALS)).fetchall()
    trials = [
        Trial(
            model, suite, scenario, ended, bool(ok), why, json.loads(details), mark, is_error=bool(is_error)
        )
        for scenario, ended, ok, why, details, is_error in reversed(found)
    ]
    return replace(record, trials=tuple(trials))
