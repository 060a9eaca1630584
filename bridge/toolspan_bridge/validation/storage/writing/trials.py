"""Trials into the tables, with the counts of their cells: what one transaction writes. Imports SQLAlchemy.

Trials are written first, in the order of their numbers, then their cells are locked, in the order of their
keys, for as short as may be: two writers never wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from ..cells import Cell, cell_of, key_of
from ..rows import COLUMNS, Row, checksum
from ..tables import DONE, cells, trials
from .many_rows import insert_rows, update_rows
from .references import CHUNK, New

__all__ = ["CellsGone", "insert_new", "put", "save_cells", "write_trials"]

_ROW = [trials.c[name] for name in COLUMNS]


class CellsGone(Exception):
    """Cells of trials have been removed: nothing may be written before they are there again."""


def write_trials(
    connection: Connection, items: Sequence[New], ids: Mapping[str, int], *, again: bool = False
) -> list[Row]:
    """Write ``items``, whose cells have the ``ids``; for each the row that is there, which is an earlier one
    where its number was done. ``again``: it was tried before, and may be there already. Raises ``CellsGone``
    and ``Damaged``."""
    first: dict[tuple[str, int], Row] = {}
    fresh = [item.row for item in items if _is_first(item.row, first)]
    if again:
        fresh = _without_written(connection, fresh)
    kept = _insert(connection, fresh, ids, first)
    counted = [row for row in fresh if not _is_numbered(row) or kept[row.run, row.number] is row]
    found = _locked_cells(connection, sorted({key_of(row) for row in counted}))
    for row in counted:
        key = key_of(row)
        if key not in found or found[key][0] != ids[key]:
            raise CellsGone
        found[key][1].add(row)
    save_cells(connection, found)
    return [kept[item.row.run, item.row.number] if _is_numbered(item.row) else item.row for item in items]


def insert_new(connection: Connection, table: Table) -> Any:
    """An insertion into ``table`` that leaves out what is there."""
    return _dialect(connection).insert(table).on_conflict_do_nothing()


def put(connection: Connection, table: Table, key: str, values: Mapping[str, object]) -> None:
    """Write ``values`` into ``table``, in place of the row of the same ``key``."""
    statement = _dialect(connection).insert(table).values(values)
    connection.execute(statement.on_conflict_do_update(index_elements=[key], set_=dict(values)))


def save_cells(connection: Connection, found: Mapping[str, tuple[int, Cell]]) -> None:
    """Write the cells back, each to its id."""
    update_rows(connection, cells, [{"id": number, **cell.values} for number, cell in found.values()])


def _dialect(connection: Connection) -> Any:
    return postgresql if connection.dialect.name == "postgresql" else sqlite


def _is_numbered(row: Row) -> bool:
    return row.number > 0 and not row.is_error


def _is_first(row: Row, first: dict[tuple[str, int], Row]) -> bool:
    return not _is_numbered(row) or first.setdefault((row.run, row.number), row) is row


def _locked_cells(connection: Connection, keys: Sequence[str]) -> dict[str, tuple[int, Cell]]:
    """The cells of ``keys`` with their ids, no other's to write until the end of the transaction. Raises
    ``Damaged``."""
    found: dict[str, tuple[int, Cell]] = {}
    for start in range(0, len(keys), CHUNK):
        wanted = select(cells).where(cells.c.key.in_(keys[start : start + CHUNK]))
        for each in connection.execute(wanted.order_by(cells.c.key).with_for_update()).mappings():
            found[each["key"]] = (each["id"], cell_of(dict(each)))
    return found


def _without_written(connection: Connection, rows: Sequence[Row]) -> list[Row]:
    """``rows`` without the errors that are there: of those a number may have several, none twice."""
    errors = {checksum(row): row for row in rows if not _is_numbered(row)}
    found = select(trials.c.run, trials.c.number, trials.c.checksum).where(
        trials.c.run.in_({row.run for row in errors.values()}),
        trials.c.is_error == 1,
        trials.c.checksum.in_(list(errors)),
    )
    there = {tuple(each) for each in connection.execute(found)} if errors else set[tuple[object, ...]]()
    return [row for row in rows if _is_numbered(row) or (row.run, row.number, checksum(row)) not in there]


def _insert(
    connection: Connection, rows: Sequence[Row], ids: Mapping[str, int], first: dict[tuple[str, int], Row]
) -> dict[tuple[str, int], Row]:
    """Write ``rows``; of those with a number, the row that is there for it."""
    insert_rows(connection, trials, [_values(row, ids) for row in rows if not _is_numbered(row)])
    kept: dict[tuple[str, int], Row] = {}
    numbered = [_values(first[cell], ids) for cell in sorted(first)]
    for run, number in insert_rows(connection, trials, numbered, "run", "number"):
        kept[run, number] = first[run, number]
    earlier = [cell for cell in first if cell not in kept]
    for start in range(0, len(earlier), CHUNK):
        which = tuple_(trials.c.run, trials.c.number).in_(earlier[start : start + CHUNK])
        for values in connection.execute(select(*_ROW).where(which, DONE)):
            row = Row(*values)
            kept[row.run, row.number] = row
    return kept


def _values(row: Row, ids: Mapping[str, int]) -> dict[str, object]:
    return {**row._asdict(), "checksum": checksum(row), "cell": ids[key_of(row)]}
