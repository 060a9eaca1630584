"""Trials into the tables, with their cells and fingerprints: what one transaction writes. Imports SQLAlchemy.

Cells are locked first, in the order of their keys, then fingerprints and trials are written in order too: two
writers never wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, bindparam, insert, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from .cells import CELL_COLUMNS, Cell, cell_of, key_of
from .rows import COLUMNS, Row, checksum
from .tables import DONE, cells, fingerprints, trials

__all__ = ["New", "insert_new", "locked_cells", "put", "save_cells", "write_trials"]

_CHUNK = 500
_ROW = [trials.c[name] for name in COLUMNS]


class New(NamedTuple):
    """A trial to be written, and the text of its fingerprint."""

    row: Row
    fingerprint: str = ""


def write_trials(connection: Connection, items: Sequence[New], known: Iterable[str] = ()) -> list[Row]:
    """Write ``items``; for each the row that is there, which is an earlier one where its number was done.

    ``known`` are digests of fingerprints that need not be written again.
    """
    first: dict[tuple[str, int], Row] = {}
    fresh = [item.row for item in items if _is_first(item.row, first)]
    found = locked_cells(connection, fresh)
    marks = {item.row.fingerprint: item.fingerprint for item in items if item.row.fingerprint}
    new_marks = [{"digest": each, "parts": marks[each]} for each in sorted(marks) if each not in set(known)]
    if new_marks:
        connection.execute(insert_new(connection, fingerprints), new_marks)
    kept = _insert(connection, fresh, {key: number for key, (number, _) in found.items()}, first)
    for row in fresh:
        if not _is_numbered(row) or kept[row.run, row.number] is row:
            found[key_of(row)][1].add(row)
    save_cells(connection, found)
    return [kept[item.row.run, item.row.number] if _is_numbered(item.row) else item.row for item in items]


def insert_new(connection: Connection, table: Table) -> Any:
    """An insertion into ``table`` that leaves out what is there."""
    return _dialect(connection).insert(table).on_conflict_do_nothing()


def put(connection: Connection, table: Table, key: str, values: Mapping[str, object]) -> None:
    """Write ``values`` into ``table``, in place of the row of the same ``key``."""
    statement = _dialect(connection).insert(table).values(values)
    connection.execute(statement.on_conflict_do_update(index_elements=[key], set_=dict(values)))


def locked_cells(connection: Connection, rows: Iterable[Row]) -> dict[str, tuple[int, Cell]]:
    """The cells of ``rows`` by their keys with their ids, made where there are none, and no other's to write
    until the end of the transaction. Raises ``Damaged``."""
    wanted = {key_of(row): row for row in rows}
    found = _lock(connection, sorted(wanted))
    missing = [key for key in sorted(wanted) if key not in found]
    if missing:
        empty = [Cell(row.model_id, row.suite, row.scenario, row.fingerprint) for row in wanted.values()]
        new = {cell.key: cell.values for cell in empty}
        connection.execute(insert_new(connection, cells), [new[key] for key in missing])
        found |= _lock(connection, missing)
    return found


def save_cells(connection: Connection, found: Mapping[str, tuple[int, Cell]]) -> None:
    """Write the cells back, each to its id."""
    changed: dict[str, Any] = {name: bindparam(f"new_{name}") for name in (*CELL_COLUMNS, "checksum")}
    statement = update(cells).where(cells.c.id == bindparam("which")).values(changed)
    values = [
        {"which": number, **{f"new_{name}": value for name, value in cell.values.items()}}
        for number, cell in found.values()
    ]
    if values:
        connection.execute(statement, values)


def _dialect(connection: Connection) -> Any:
    return postgresql if connection.dialect.name == "postgresql" else sqlite


def _is_numbered(row: Row) -> bool:
    return row.number > 0 and not row.is_error


def _is_first(row: Row, first: dict[tuple[str, int], Row]) -> bool:
    return not _is_numbered(row) or first.setdefault((row.run, row.number), row) is row


def _lock(connection: Connection, keys: Sequence[str]) -> dict[str, tuple[int, Cell]]:
    found: dict[str, tuple[int, Cell]] = {}
    for start in range(0, len(keys), _CHUNK):
        wanted = select(cells).where(cells.c.key.in_(keys[start : start + _CHUNK]))
        for each in connection.execute(wanted.order_by(cells.c.key).with_for_update()).mappings():
            found[each["key"]] = (each["id"], cell_of(dict(each)))
    return found


def _insert(
    connection: Connection, rows: Sequence[Row], ids: Mapping[str, int], first: dict[tuple[str, int], Row]
) -> dict[tuple[str, int], Row]:
    """Write ``rows``; of those with a number, the row that is there for it."""
    loose = [_values(row, ids) for row in rows if not _is_numbered(row)]
    if loose:
        connection.execute(insert(trials), loose)
    kept: dict[tuple[str, int], Row] = {}
    numbered = [_values(first[cell], ids) for cell in sorted(first)]
    if numbered:
        statement = insert_new(connection, trials).returning(trials.c.run, trials.c.number)
        for done in connection.execute(statement, numbered):
            kept[done.run, done.number] = first[done.run, done.number]
    earlier = [cell for cell in first if cell not in kept]
    for start in range(0, len(earlier), _CHUNK):
        which = tuple_(trials.c.run, trials.c.number).in_(earlier[start : start + _CHUNK])
        for values in connection.execute(select(*_ROW).where(which, DONE)):
            row = Row(*values)
            kept[row.run, row.number] = row
    return kept


def _values(row: Row, ids: Mapping[str, int]) -> dict[str, object]:
    return {**row._asdict(), "checksum": checksum(row), "cell": ids[key_of(row)]}
