"""What a store has of a ``Selection``: its trials' rows, and its cells. Imports SQLAlchemy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, select, true

from ..cells import Cell, cell_of
from ..rows import Damaged, Row, checked_row
from ..tables import CHECKED, DONE, cells, trials
from .selection import Selection

__all__ = ["chosen_cells", "chosen_rows"]


def chosen_rows(connection: Connection, selection: Selection) -> Generator[tuple[int, Row]]:
    """Every chosen trial with its id, oldest first, one after another. Raises ``Damaged``, at the end where
    one is missing."""
    in_part = bool(selection.since or selection.run)
    written = {} if in_part else chosen_cells(connection, selection)
    seen: Counter[int] = Counter()
    with connection.execute(_trials(selection)) as result:
        for found in result:
            number, cell, row = checked_row(found)
            seen[cell] += 1
            yield number, row
    if not in_part and seen != Counter({of: cell.written for of, cell in written.items()}):
        raise Damaged("trials that were written are missing")


def chosen_cells(connection: Connection, selection: Selection) -> dict[int, Cell]:
    """The cells of the chosen models, suites and fingerprint by their ids, whatever the time of their
    trials."""
    found = connection.execute(select(cells).where(*_cells(selection)).order_by(cells.c.id)).mappings()
    return {each["id"]: cell_of(dict(each)) for each in found}


def _cells(selection: Selection) -> list[ColumnElement[bool]]:
    models, suites, mark = selection.models, selection.suites, selection.fingerprint
    chosen = [
        *([cells.c.model_id.in_(models)] if models else []),
        *([cells.c.suite.in_(suites)] if suites else []),
        *([cells.c.fingerprint == mark] if mark is not None else []),
    ]
    return chosen or [true()]


def _trials(selection: Selection) -> Select[*tuple[Any, ...]]:
    found = select(*CHECKED).order_by(trials.c.id)
    if selection.models or selection.suites or selection.fingerprint is not None:
        found = found.where(trials.c.cell.in_(select(cells.c.id).where(*_cells(selection))))
    if selection.run:
        which = trials.c.is_error == 1 if selection.errors else DONE
        found = found.where(trials.c.run == selection.run, which)
    return found.where(trials.c.timestamp >= selection.since) if selection.since else found
