"""Cells made anew of the trials themselves. Imports SQLAlchemy."""

from __future__ import annotations

from collections.abc import Collection, Generator

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from .cells import Cell, cell_of, key_of
from .rows import Row, checked_row
from .tables import CHECKED, cells, trials
from .writing.trials import save_cells

__all__ = ["recounted", "rows_after"]

_PAGE = 1_000


def recounted(connection: Connection, only: Collection[int] | None = None) -> None:
    """Count every trial in its cell, or those of the cells with the ids ``only``, which are locked; cells
    without a trial are removed. Raises ``Damaged``."""
    found = _emptied(connection, only or ())
    ids = {cell.key: number for number, cell in found.items()}
    for number, row in rows_after(connection, only):
        key = key_of(row)
        if key not in ids:
            cell = Cell(row.model_id, row.suite, row.scenario, row.fingerprint)
            (ids[key],) = connection.execute(insert(cells).values(cell.values)).inserted_primary_key or (0,)
            found[ids[key]] = cell
        found[ids[key]].add(row)
        if only is None:
            _place(connection, number, ids[key])
    save_cells(connection, {cell.key: (number, cell) for number, cell in found.items() if cell.written})
    empty = [number for number, cell in found.items() if not cell.written]
    connection.execute(delete(cells).where(cells.c.id.in_(empty)))


def rows_after(
    connection: Connection, only: Collection[int] | None = None, last: int = 0
) -> Generator[tuple[int, Row]]:
    """Every trial with its id, or those of the cells ``only``, from the one after ``last``, oldest first; the
    transaction may write meanwhile. Raises ``Damaged``."""
    which = trials.c.cell.in_(only) if only is not None else trials.c.id > 0
    page = select(*CHECKED).where(which, trials.c.id > bindparam("last")).order_by(trials.c.id).limit(_PAGE)
    while found := connection.execute(page, {"last": last}).all():
        for each in found:
            last, _, row = checked_row(each)
            yield last, row


def _emptied(connection: Connection, only: Collection[int]) -> dict[int, Cell]:
    locked = select(cells).where(cells.c.id.in_(only)).order_by(cells.c.key).with_for_update()
    kept: dict[int, Cell] = {}
    for each in connection.execute(locked).mappings():
        cell = cell_of(dict(each))
        kept[each["id"]] = Cell(cell.model_id, cell.suite, cell.scenario, cell.fingerprint)
    return kept


def _place(connection: Connection, number: int, cell: int) -> None:
    connection.execute(update(trials).where(trials.c.id == number).values(cell=cell))
