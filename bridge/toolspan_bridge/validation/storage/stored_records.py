"""The records in a store, read as they are; it need not be writable."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from toolspan_server.common.state.private_files import stat_private

from ...errors import StoreError
from ..evidence.counts import Counts
from ..evidence.records import Present, Record, judged
from ..fingerprint import Fingerprint
from .cells import CELL_COLUMNS, cell_of, records_of_cells
from .places import Place, place_of
from .reading import has_column, has_table, read_only
from .rows import Damaged

__all__ = ["read_records"]

_CELLS = f"SELECT {', '.join(CELL_COLUMNS)}, checksum FROM cells ORDER BY id"
_COUNTED = (
    "SELECT model_id, suite, {mark}, count(*), sum(success), min(timestamp), max(timestamp) FROM trials "
    "GROUP BY 1, 2, 3"
)


def read_records(place: Path | str, present: Present = lambda record: {}) -> list[Record]:
    """The records in the store at ``place`` (see ``Store.open``), without their trials, ``judged``; none
    where there is no store.

    Raises ``StoreError`` when it cannot be read.
    """
    there = place_of(place)
    try:
        if there.path is None:
            return judged(_of_server(there), present)
        return (
            judged(read_only(there.path, _records), present) if stat_private(there.path) is not None else []
        )
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError, Damaged) as error:
        raise StoreError(f"the validation store {there.shown} cannot be read: {error}") from None


def _of_server(place: Place) -> list[Record]:
    from .database import existing
    from .selections.selection import ALL

    database = existing(place)
    if database is None:
        return []
    try:
        return records_of_cells(database.cells(ALL), _marks(database.fingerprints()))
    finally:
        database.close()


def _records(connection: sqlite3.Connection) -> list[Record]:
    if not has_table(connection, "trials"):
        return []
    if not has_table(connection, "cells"):
        return _of_earlier_version(connection)
    texts = dict(connection.execute("SELECT digest, parts FROM fingerprints"))
    names = (*CELL_COLUMNS, "checksum")
    cells = [cell_of(dict(zip(names, row, strict=True))) for row in connection.execute(_CELLS)]
    return records_of_cells(cells, _marks(texts))


def _of_earlier_version(connection: sqlite3.Connection) -> list[Record]:
    marked = has_column(connection, "trials", "fingerprint")
    texts = connection.execute("SELECT digest, parts FROM fingerprints").fetchall() if marked else []
    marks = {"": None, **_marks(dict(texts))}
    counted = connection.execute(_COUNTED.format(mark="fingerprint" if marked else "''"))
    return [
        Record(model, suite, marks[digest], Counts(n, successes), first, last)
        for model, suite, digest, n, successes, first, last in counted
    ]


def _marks(texts: Mapping[str, str]) -> dict[str, Fingerprint]:
    return {digest: Fingerprint.from_json(parts) for digest, parts in texts.items()}
