"""The validation store: every trial that was ever run, in a file of SQLite or a database of PostgreSQL.

A trial counts as written when ``append`` has returned it: it is then on the disk, whatever becomes of the
process or the connection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from toolspan_server.common.state.private_files import stat_private

from ...errors import StoreError
from .._clean import (
    Redact,
    clean,
    clean_text,
    cut_text,
    fitted,
)
from ..fingerprint import Fingerprint
from .file import STORE_FILE
from .places import place_of
from .rows import Row, trial_of
from .run import Run
from .selections.selection import ALL, Selection
from .trial import Trial, timestamp

if TYPE_CHECKING:
    from ..evidence.records import Present, Record
    from ..wordings.choice import WordingChoice
    from .database import Database, RunRow
    from .selections.snapshot import Snapshot
    from .writing.references import New

__all__ = ["STORE_FILE", "Store", "Totals"]

_MAX_NAME = 512
_MAX_ERROR = 8_192
_PART = 1_000
_MOST_MARKS = 256


@dataclass(frozen=True, slots=True)
class Totals:
    """How often a model was tried, over all runs, errors left out, and how often it succeeded."""

    test_count: int
    success_count: int


class Store:
    """Trials in a database; made by ``Store.open``. Safe to share between threads.

    ``place`` says where it is, without a password. ``notices`` names every damaged store that was set aside
    there: show them.
    """

    def __init__(self, database: Database, redact: Redact) -> None:
        self.place = database.place.shown
        self.notices = database.notices
        self._database = database
        self._redact = redact
        self._marks: dict[Fingerprint, Fingerprint] = {}

    @property
    def path(self) -> Path:
        """The file of a store in SQLite. Raises ``StoreError`` for another one."""
        if self._database.place.path is None:
            raise StoreError(f"the validation store {self.place} is no file")
        return self._database.place.path

    @classmethod
    def open(cls, place: Path | str, *, redact: Redact = str) -> Store:
        """Open the store at ``place``: a path, ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/NAME``.

        It is made where there is none, a file with its folder, and one of an earlier version is migrated.
        ``redact`` takes secrets out of every text before it is written. A damaged file is renamed, noticed.

        Raises ``StoreError`` when the place cannot be reached or written, for a store of a newer version and
        for another program's database or tables: those are left as they are.
        """
        from .database import Database

        return cls(Database.open(place_of(place)), redact)

    @classmethod
    def existing(cls, place: Path | str, *, redact: Redact = str) -> Store | None:
        """As ``open``, where there is a store; ``None`` where there is none: it is not made."""
        from .database import existing

        there = place_of(place)
        if there.path is not None:
            return cls.open(there.path, redact=redact) if stat_private(there.path) is not None else None
        found = existing(there)
        return cls(found, redact) if found else None

    def append(self, trial: Trial) -> Trial:
        """Write ``trial`` and return it as it was written: without secrets, sanitised, at most 256 KiB.

        Where a trial of the same ``run`` and ``number`` is there that is no error, and this is none, nothing
        is written, and that earlier one is returned: of each number one trial counts.

        Raises ``StoreError`` when it is not on the disk; what was written before is intact.
        """
        return self._trials([self._database.append(self._new(trial))])[0]

    def as_kept(self, trial: Trial) -> Trial:
        """``trial`` as ``append`` writes it."""
        return self._trials([self._new(trial)])[0]

    def append_all(self, trials: Sequence[Trial]) -> list[Trial]:
        """Write ``trials`` together, whole or not at all, each as ``append`` does, but much faster.

        Raises ``StoreError`` when none of them is written.
        """
        return self._trials(self._database.append_all([self._new(trial) for trial in trials]))

    def rehearse(self) -> None:
        """Write a trial and take it back, so that the first that counts takes no longer than the others:
        connecting and composing statements take as long as some writes. Raises ``StoreError``, also where
        this store cannot be written."""
        run = uuid4().hex
        trial = Trial("", "", run, timestamp(), True, "", {}, Fingerprint(), run=run, number=1)
        self._database.rehearse(self._new(trial))

    def begin(self, run: Run) -> None:
        """Write that ``run`` has begun; one of the same id stays as it is. Raises ``StoreError``."""
        contents = fitted(clean(run.contents, self._redact))
        plan = self._short(run.plan)
        self._database.begin((self._short(run.id), plan, run.started, run.finished, contents))

    def unfinished(self, plan: str) -> Run | None:
        """The last started run of ``plan`` that was not finished: the one to go on with."""
        return _run(self._database.unfinished(self._short(plan)))

    def run(self, run_id: str) -> Run | None:
        """The run of that id."""
        return _run(self._database.run(self._short(run_id)))

    def latest_runs(self, most: int) -> list[Run]:
        """The last ``most`` runs that were started, the latest first."""
        return [run for each in self._database.latest_runs(most) if (run := _run(each)) is not None]

    def finish(self, run_id: str) -> None:
        """Write that the run has finished now; one that had before stays as it is. Raises ``StoreError``."""
        self._database.finish(self._short(run_id), timestamp())

    def hold(self, run_id: str) -> AbstractContextManager[bool]:
        """Whether no other process is at work on the run: then none is until the block ends, or this process
        does. Raises ``StoreError``."""
        return self._database.hold(run_id)

    def done(self, run_id: str) -> frozenset[int]:
        """The numbers of the run that have a trial which is no error: those are not run again."""
        return frozenset(self._database.done(self._short(run_id)))

    def choose(self, choice: WordingChoice) -> None:
        """Write which wording serves a model, in place of an earlier choice. Raises ``StoreError``."""
        self._database.choose(self._short(choice.model_id), self._redact(json.dumps(choice.as_dict())))

    def trials(self, model_id: str | None = None) -> list[Trial]:
        """Every trial, or those of one model, in the order in which they were written."""
        return list(self.stream(Selection(() if model_id is None else (model_id,))))

    def stream(self, selection: Selection = ALL) -> Generator[Trial]:
        """Each of the chosen trials in the order in which they were written, one after another, as they are
        when the first is read. Raises ``StoreError``, also at the end where one is missing."""
        for _, trial in self._numbered(selection):
            yield trial

    @contextmanager
    def snapshot(self) -> Generator[Snapshot]:
        """The store as it is when it is first read in the block: of what is read there more than once, each
        is the same. Raises ``StoreError``."""
        from .selections.snapshot import Snapshot

        with self._database.snapshot() as connection:
            yield Snapshot(connection, self._database.place, self._fingerprints, self._as_written)

    def records(self, model_id: str | None = None, present: Present = lambda record: {}) -> list[Record]:
        """The records of every model, or of one, with their figures but without their trials, of which none
        is read; ``present`` as for ``judged``."""
        from ..evidence.records import judged
        from .cells import records_of_cells
        from .transactions import reporting

        found = self._database.cells(Selection(() if model_id is None else (self._short(model_id),)))
        with reporting(self._database.place, "read"):
            return judged(records_of_cells(found, self._fingerprints()), present)

    def totals(self, model_id: str, fingerprint: Fingerprint | None = None) -> Totals:
        """The counts over all trials of one model, or over those of ``fingerprint`` where one is given."""
        digest = self._redacted(fingerprint).digest if fingerprint else None
        found = [
            cell
            for cell in self._database.cells(Selection((self._short(model_id),)))
            if digest in (None, cell.fingerprint)
        ]
        return Totals(sum(cell.n for cell in found), sum(cell.successes for cell in found))

    def forget(
        self, chosen: Callable[[Trial], bool], folder: Path | None = None, selection: Selection = ALL
    ) -> tuple[int, Path | None]:
        """Remove the trials of ``selection`` that are ``chosen``; how many there were, and the copy that was
        made before. Without any nothing is done.

        Of a file the copy is the whole store, beside it or in ``folder``; of another database those trials
        alone, a store of SQLite in ``folder``, or where the process is. Raises ``StoreError`` when the copy
        or the removal fails: then nothing is removed.
        """
        numbers = [number for number, trial in self._numbered(selection) if chosen(trial)]
        if not numbers:
            return 0, None
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        path = self._database.place.path
        name = f"{path.name if path else STORE_FILE}.backup-{stamp}"
        backup = (folder or (path.parent if path else Path())) / name
        if path:
            self._database.copy_to(backup)
        else:
            self._copy(frozenset(numbers), selection, backup)
        self._database.remove(numbers)
        return len(numbers), backup

    def close(self) -> None:
        """Close the file, or the connections. What was written stays written."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _new(self, trial: Trial) -> New:
        from .writing.references import New

        mark = self._redacted(trial.fingerprint) if trial.fingerprint else None
        row = Row(
            self._short(trial.model_id),
            self._short(trial.suite),
            self._short(trial.scenario),
            trial.timestamp,
            int(trial.success),
            self._short(trial.error, _MAX_ERROR),
            fitted(clean(trial.details, self._redact)),
            mark.digest if mark else "",
            int(trial.is_error),
            self._short(trial.run),
            trial.number,
        )
        return New(row, mark.text if mark else "")

    def _trials(self, kept: Sequence[New]) -> list[Trial]:
        """The trials as they are there; the fingerprints of earlier ones are read."""
        marks = {
            new.row.fingerprint: Fingerprint.from_json(new.fingerprint) for new in kept if new.fingerprint
        }
        if any(new.row.fingerprint and new.row.fingerprint not in marks for new in kept):
            marks |= self._fingerprints()
        return [trial_of(new.row, marks) for new in kept]

    def _numbered(self, selection: Selection) -> Generator[tuple[int, Trial]]:
        with self.snapshot() as snapshot, closing(snapshot.numbered(selection)) as found:
            yield from found

    def _as_written(self, selection: Selection) -> Selection:
        return replace(
            selection,
            models=tuple(self._short(model) for model in selection.models),
            suites=tuple(self._short(suite) for suite in selection.suites),
            run=self._short(selection.run),
        )

    def _copy(self, numbers: frozenset[int], selection: Selection, backup: Path) -> None:
        with closing(self._numbered(selection)) as found, Store.open(backup) as copy:
            wanted = (trial for number, trial in found if number in numbers)
            while part := list(islice(wanted, _PART)):
                copy.append_all(part)

    def _fingerprints(self) -> dict[str, Fingerprint]:
        try:
            texts = self._database.fingerprints()
            return {digest: Fingerprint.from_json(text) for digest, text in texts.items()}
        except ValueError as error:
            raise StoreError(f"the validation store {self.place} cannot be read: {error}") from None

    def _redacted(self, fingerprint: Fingerprint) -> Fingerprint:
        """``fingerprint`` without secrets; the last ones are remembered, as whole runs have the same."""
        if fingerprint not in self._marks:
            if len(self._marks) >= _MOST_MARKS:
                self._marks.clear()
            parts = {name: self._short(value) for name, value in fingerprint.as_dict().items()}
            self._marks[fingerprint] = Fingerprint(**parts)
        return self._marks[fingerprint]

    def _short(self, text: str, characters: int = _MAX_NAME) -> str:
        # PostgreSQL keeps no text with a NUL; in JSON it is escaped.
        return cut_text(clean_text(self._redact(text)).replace("\0", "\ufffd"), characters)


def _run(row: RunRow | None) -> Run | None:
    if row is None:
        return None
    run_id, plan, started, finished, contents = row
    return Run(run_id, plan, started, finished, json.loads(contents))
