"""What trials refer to, their fingerprints and cells, is made before them. Imports SQLAlchemy.

Where several may write at a time it is made in a transaction of its own: in one with the trials, two writers
who each need what the other has just made would wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from ..cells import Cell, key_of
from ..rows import Row
from ..tables import cells, fingerprints
from .many_rows import insert_rows

__all__ = ["CHUNK", "New", "References", "make_references"]

CHUNK = 500
"""So many values are named in one statement."""


class New(NamedTuple):
    """A trial to be written, and the text of its fingerprint."""

    row: Row
    fingerprint: str = ""


class References:
    """What is known to be there of fingerprints and cells, so that it is not looked for with each trial."""

    def __init__(self) -> None:
        self._digests: set[str] = set()
        self._ids: dict[str, int] = {}

    @property
    def ids(self) -> dict[str, int]:
        """The ids of cells by their keys."""
        return self._ids

    def lacking(self, items: Sequence[New]) -> list[New]:
        """Those of ``items`` whose fingerprint or cell is not known to be there."""
        return [
            item
            for item in items
            if key_of(item.row) not in self._ids
            or (item.row.fingerprint and item.row.fingerprint not in self._digests)
        ]

    def learn(self, items: Sequence[New], ids: Mapping[str, int]) -> None:
        """What ``items`` refer to is there, the cells with these ``ids``."""
        self._digests.update(item.row.fingerprint for item in items)
        self._ids.update(ids)

    def forget_cells(self) -> None:
        """Look for each cell again: some were removed."""
        self._ids.clear()


def make_references(connection: Connection, items: Sequence[New]) -> dict[str, int]:
    """See to it that what ``items`` refer to is there; the ids of their cells by the keys."""
    marks = {item.row.fingerprint: item.fingerprint for item in items if item.row.fingerprint}
    insert_rows(connection, fingerprints, [{"digest": each, "parts": marks[each]} for each in sorted(marks)])
    wanted = {key_of(item.row): item.row for item in items}
    found = _ids(connection, sorted(wanted))
    if missing := [key for key in sorted(wanted) if key not in found]:
        insert_rows(connection, cells, [_empty(wanted[key]).values for key in missing])
        found |= _ids(connection, missing)
    return found


def _empty(row: Row) -> Cell:
    return Cell(row.model_id, row.suite, row.scenario, row.fingerprint)


def _ids(connection: Connection, keys: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(keys), CHUNK):
        wanted = select(cells.c.key, cells.c.id).where(cells.c.key.in_(keys[start : start + CHUNK]))
        found |= {each.key: each.id for each in connection.execute(wanted)}
    return found
