"""The store's statements, the same over SQLite and PostgreSQL: rows in and out, ``StoreError`` for a failure.

Imports SQLAlchemy.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy import Connection, Engine, Select, delete, func, select, update
from sqlalchemy import Row as SqlRow

from toolspan_server.common.state.private_files import stat_private

from ...errors import StoreError
from .cells import Cell
from .file import set_aside_notices
from .holds import held_by_file, number_of
from .places import Place
from .recounting import recounted
from .rows import Row, checked_row
from .selections.chosen_rows import chosen_cells
from .selections.selection import Selection
from .tables import CHECKED, DONE, cells, fingerprints, runs, trials, wordings
from .transactions import Transactions, reporting
from .writing.group_commit import GroupCommit
from .writing.references import New, References, make_references
from .writing.trials import CellsGone, insert_new, put, write_trials

__all__ = ["Database", "RunRow", "existing"]

RunRow = tuple[str, str, str, str, str]
"""A run's id, plan, start, end and contents."""

_RUN = (runs.c.id, runs.c.plan, runs.c.started, runs.c.finished, runs.c.contents)
_PAGE = 1_000
_ATTEMPTS = 4
_LOST = "this trial is not recorded, earlier ones are intact"


class Database:
    """An open store at ``place``. Safe to share between threads. ``notices`` names each store that was set
    aside there."""

    def __init__(self, place: Place, engine: Engine) -> None:
        self.place = place
        self.notices = set_aside_notices(place.path) if place.path else ()
        self._engine = engine
        self._transactions = Transactions(engine, place)
        self._identity = _identity(place.path)
        self._references = References()
        self._append = GroupCommit(self.append_all)

    @classmethod
    def open(cls, place: Place) -> Database:
        """The store at ``place``, made where there is none. Raises ``StoreError``."""
        with reporting(place, "open"):
            if place.path is not None:
                from .sqlite import opened_sqlite

                return cls(place, opened_sqlite(place.path))
            from .postgres import opened_postgres

            return cls(place, opened_postgres(place))

    def append(self, new: New) -> New:
        """Write a trial, with those that other threads write at this time; the one that is there."""
        return self._append(new)

    def append_all(self, items: Sequence[New]) -> list[New]:
        """Write ``items`` in one transaction; of each number of a run the one that is there."""
        self._check_identity("trial")
        for _ in range(_ATTEMPTS):
            try:
                kept = self._written(items)
                break
            except CellsGone:
                self._references.forget_cells()
        else:
            raise StoreError(f"{self.place.shown}: others go on removing what is written; {_LOST}")
        return [item if row is item.row else New(row) for item, row in zip(items, kept, strict=True)]

    def _written(self, items: Sequence[New]) -> list[Row]:
        """The rows that are there for ``items``. Raises ``CellsGone``."""
        lacking = self._references.lacking(items)
        if lacking and self.place.path is None:
            made = self._transactions.write(lambda connection: make_references(connection, lacking), _LOST)
            self._references.learn(lacking, made)
            lacking = []

        attempts = count()

        def write(connection: Connection) -> tuple[list[Row], dict[str, int]]:
            again = next(attempts) > 0
            made = make_references(connection, lacking) if lacking else {}
            return write_trials(connection, items, ChainMap(made, self._references.ids), again=again), made

        of_runs = all(item.row.number > 0 for item in items)
        kept, made = self._transactions.write(write, _LOST, repeatable=of_runs)
        self._references.learn(lacking, made)
        return kept

    def rehearse(self, new: New) -> None:
        """Write ``new`` and take it back."""

        def write(connection: Connection) -> None:
            write_trials(connection, [new], make_references(connection, [new]))

        self._check_identity("trial")
        self._transactions.undone(write, "write to")

    def choose(self, model_id: str, choice: str) -> None:
        """Write the choice of a wording for a model, in place of an earlier one."""

        def write(connection: Connection) -> None:
            put(connection, wordings, "model_id", {"model_id": model_id, "choice": choice})

        self._check_identity("choice of a wording")
        self._transactions.write(write, "the choice of a wording is not recorded")

    def choices(self) -> list[str]:
        """The choices of wordings."""
        found = select(wordings.c.choice).order_by(wordings.c.model_id)
        return self._transactions.read(lambda connection: list(connection.execute(found).scalars()))

    def begin(self, run: RunRow) -> None:
        """Write a run, unless there is one of the same id."""
        values = dict(zip(("id", "plan", "started", "finished", "contents"), run, strict=True))

        def write(connection: Connection) -> None:
            connection.execute(insert_new(connection, runs).values(values))

        self._check_identity("run")
        self._transactions.write(write, "the run is not recorded")

    def finish(self, run_id: str, when: str) -> None:
        """Write when a run was finished, unless it was before."""

        def write(connection: Connection) -> None:
            which = update(runs).where(runs.c.id == run_id, runs.c.finished == "")
            connection.execute(which.values(finished=when))

        self._check_identity("end of the run")
        self._transactions.write(write, "the run is not recorded as finished")

    def unfinished(self, plan: str) -> RunRow | None:
        """The last started run of ``plan`` that is not finished."""
        found = select(*_RUN).where(runs.c.plan == plan, runs.c.finished == "")
        return self._run(found.order_by(runs.c.started.desc(), runs.c.id).limit(1))

    def run(self, run_id: str) -> RunRow | None:
        """The run of that id."""
        return self._run(select(*_RUN).where(runs.c.id == run_id))

    def latest_runs(self, most: int) -> list[RunRow]:
        """The last ``most`` runs that were started, the latest first."""
        found = select(*_RUN).order_by(runs.c.started.desc(), runs.c.id).limit(most)
        return self._transactions.read(lambda connection: [_row(each) for each in connection.execute(found)])

    def done(self, run_id: str) -> list[int]:
        """The numbers of a run that have a trial which is no error."""
        found = select(trials.c.number).where(trials.c.run == run_id, DONE)
        return self._transactions.read(lambda connection: list(connection.execute(found).scalars()))

    def cells(self, selection: Selection) -> list[Cell]:
        """The cells of the chosen models and suites, whatever the time of their trials."""
        return self._transactions.read(lambda connection: list(chosen_cells(connection, selection).values()))

    def fingerprints(self) -> dict[str, str]:
        """The text of every fingerprint, by its digest."""
        found = select(fingerprints.c.digest, fingerprints.c.parts)
        return self._transactions.read(
            lambda connection: {row.digest: row.parts for row in connection.execute(found)}
        )

    def snapshot(self) -> AbstractContextManager[Connection]:
        """A connection that reads what is there at one moment, for ``chosen_rows``."""
        return self._transactions.snapshot()

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove the trials of these ids, all or none, and count what is left in their cells."""

        def write(connection: Connection) -> None:
            parts = [trials.c.id.in_(numbers[at : at + _PAGE]) for at in range(0, len(numbers), _PAGE)]
            touched: set[int] = set()
            for part in parts:
                touched |= set(connection.execute(select(trials.c.cell).where(part).distinct()).scalars())
            locked = select(cells.c.id).where(cells.c.id.in_(touched)).order_by(cells.c.key)
            connection.execute(locked.with_for_update())
            for part in parts:
                connection.execute(delete(trials).where(part))
            recounted(connection, touched)

        self._check_identity("removal")
        self._transactions.write(write, "nothing was removed", verb="change")

    def copy_to(self, backup: Path) -> None:
        """Copy the whole store, a file of SQLite, to ``backup``."""
        from .sqlite import copied

        assert self.place.path is not None
        self._check_identity("removal")
        with reporting(self.place, "change", "; nothing was removed"):
            copied(self.place.path, backup)

    @contextmanager
    def hold(self, run_id: str) -> Generator[bool]:
        """Whether no other process is at work on the run; then none is until the block ends."""
        if self.place.path is not None:
            with held_by_file(self.place.path, run_id) as is_mine:
                yield is_mine
            return
        lock = func.pg_try_advisory_lock(number_of(run_id))
        with reporting(self.place, "read"), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            is_mine = bool(connection.execute(select(lock)).scalar_one())
            try:
                yield is_mine
            finally:
                connection.invalidate()  # the lock ends with the connection

    def last_rows(self, keys: Sequence[str], most: int) -> list[Row]:
        """The last ``most`` trials of the cells with these ``keys``, oldest first."""
        of_cells = trials.c.cell.in_(select(cells.c.id).where(cells.c.key.in_(keys)))
        found = select(*CHECKED).where(of_cells).order_by(trials.c.id.desc()).limit(most)

        def read(connection: Connection) -> list[Row]:
            return [checked_row(each)[-1] for each in connection.execute(found)]

        return self._transactions.read(read)[::-1]

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    def _run(self, statement: Select[str, str, str, str, str]) -> RunRow | None:
        found = self._transactions.read(lambda connection: connection.execute(statement).first())
        return None if found is None else _row(found)

    def _check_identity(self, what: str) -> None:
        if _identity(self.place.path) != self._identity:
            raise StoreError(
                f"{self.place.shown}: this file was removed or replaced while in use; the {what} is not "
                "recorded (run again)"
            )


def existing(place: Place) -> Database | None:
    """The store in the PostgreSQL database at ``place``, ``None`` where there is none: it is not made.

    Raises ``StoreError``.
    """
    from .postgres import is_there, opened_postgres

    with reporting(place, "open"):
        return Database(place, opened_postgres(place)) if is_there(place) else None


def _row(found: SqlRow[str, str, str, str, str]) -> RunRow:
    return (found[0], found[1], found[2], found[3], found[4])


def _identity(path: Path | None) -> tuple[int, int] | None:
    status = stat_private(path) if path else None
    return (status.st_dev, status.st_ino) if status else None
