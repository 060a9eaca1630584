"""Many rows in one statement. Imports SQLAlchemy.

PostgreSQL is given them as one parameter, a list of JSON: a statement of a thousand parameters takes longer
to be read, here and there, than to be done. SQLite takes each row by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import JSON, Column, Connection, Table, Text, bindparam, cast, column, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

__all__ = ["insert_rows", "update_rows"]

_ROWS = "rows"


def insert_rows(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, object]], *returning: str
) -> list[tuple[Any, ...]]:
    """Insert ``rows``, in their order, all of the same columns, and leave out those that are there; of each
    that was not, the columns ``returning``."""
    if not rows:
        return []
    if connection.dialect.name == "postgresql":
        found = connection.execute(_insertion(table, tuple(rows[0]), returning), _given(rows))
    else:
        statement = sqlite.insert(table).on_conflict_do_nothing()
        chosen = statement.returning(*(table.c[name] for name in returning)) if returning else statement
        found = connection.execute(chosen, list(rows))
    return [tuple(each) for each in found] if returning else []


def update_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Write the other columns of ``rows`` into the rows of ``table`` with their ids."""
    if not rows:
        return
    names = tuple(name for name in rows[0] if name != "id")
    if connection.dialect.name == "postgresql":
        connection.execute(_change(table, names), _given(rows))
        return
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
    each = update(table).where(table.c.id == bindparam("new_id")).values(values)
    connection.execute(each, [{f"new_{name}": value for name, value in row.items()} for row in rows])


def _given(rows: Sequence[Mapping[str, object]]) -> dict[str, str]:
    return {_ROWS: json.dumps(list(rows), ensure_ascii=False, allow_nan=False)}


@lru_cache
def _insertion(table: Table, names: tuple[str, ...], returning: tuple[str, ...]) -> Any:
    given = _recordset([table.c[name] for name in names])
    statement = postgresql.insert(table).from_select(list(names), select(*given.c)).on_conflict_do_nothing()
    return statement.returning(*(table.c[name] for name in returning)) if returning else statement


@lru_cache
def _change(table: Table, names: tuple[str, ...]) -> Any:
    given = _recordset([table.c.id, *(table.c[name] for name in names)])
    return update(table).where(table.c.id == given.c.id).values({name: given.c[name] for name in names})


def _recordset(columns: Sequence[Column[Any]]) -> Any:
    typed = [column(each.name, each.type) for each in columns]
    return (
        func.json_to_recordset(cast(bindparam(_ROWS, type_=Text), JSON))
        .table_valued(*typed, name="given")
        .render_derived(with_types=True)
    )
