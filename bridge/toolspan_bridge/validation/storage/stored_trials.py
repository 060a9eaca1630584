"""The trials of records in the store beside a config, read as they are; it need not be writable."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import StoreError
from ..evidence.records import Record
from .cells import Cell
from .places import Place, place_of
from .reading import has_column, has_table, read_only
from .rows import COLUMNS, Damaged, checked_row, trial_of

if TYPE_CHECKING:
    from .database import Database

__all__ = ["MOST_TRIALS", "with_trials"]

MOST_TRIALS = 5_000
"""The last trials of each record that are read."""

_COLUMNS = f"SELECT id, checksum, {', '.join(COLUMNS)} FROM trials"
_LAST = (
    f"{_COLUMNS} WHERE cell IN (SELECT id FROM cells WHERE model_id = ? AND suite = ? AND fingerprint = ?) "
    "ORDER BY id DESC LIMIT ?"
)
_LAST_OF_3 = (
    f"SELECT id, checksum, {', '.join(COLUMNS[:8])}, 0 AS is_error, '' AS run, 0 AS number FROM trials "
    "WHERE model_id = ? AND suite = ? AND fingerprint = ? ORDER BY id DESC LIMIT ?"
)


def with_trials(place: Path | str, records: Iterable[Record]) -> list[Record]:
    """``records`` of the store at ``place`` with their last ``MOST_TRIALS`` trials, oldest first; those
    without a fingerprint stay without.

    Raises ``StoreError`` when it cannot be read.
    """
    wanted, there = list(records), place_of(place)
    if wanted and there.path is None:
        return _of_server(there, wanted)

    def read(connection: sqlite3.Connection) -> list[Record]:
        if not has_column(connection, "trials", "fingerprint"):
            return wanted
        statement = _LAST if has_table(connection, "cells") else _LAST_OF_3
        return [_filled(connection, statement, record) for record in wanted]

    try:
        return read_only(there.path, read) if wanted and there.path else []
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError, Damaged) as error:
        raise StoreError(f"the validation store {there.shown} cannot be read: {error}") from None


def _filled(connection: sqlite3.Connection, statement: str, record: Record) -> Record:
    model, suite, mark = record.model_id, record.suite, record.fingerprint
    if mark is None:
        return record
    found = connection.execute(statement, (model, suite, mark.digest, MOST_TRIALS)).fetchall()
    names = ("id", "checksum", *COLUMNS)
    rows = [checked_row(dict(zip(names, each, strict=True)))[1] for each in reversed(found)]
    return replace(record, trials=tuple(trial_of(row, {mark.digest: mark}) for row in rows))


def _of_server(place: Place, records: Iterable[Record]) -> list[Record]:
    from .database import Database

    database = Database.open(place)
    try:
        return [_from(database, record) for record in records]
    finally:
        database.close()


def _from(database: Database, record: Record) -> Record:
    mark = record.fingerprint
    if mark is None:
        return record
    cells = [Cell(record.model_id, record.suite, name, mark.digest).key for name in record.scenarios]
    rows = database.last_rows(cells, MOST_TRIALS)
    return replace(record, trials=tuple(trial_of(row, {mark.digest: mark}) for row in rows))
