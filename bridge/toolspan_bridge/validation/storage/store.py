"""The validation store: every trial that was ever run, in one SQLite file that survives its writers.

A trial counts as written when ``append`` has returned it: it is then on the disk, whatever becomes of the
process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ...errors import StoreError
from .._clean import (
    Redact,
    clean,
    clean_text,
    cut_text,
    fitted,
)
from ..fingerprint import Fingerprint
from .run import Run
from .trial import Trial, timestamp

if TYPE_CHECKING:
    from ..evidence.records import Present, Record
    from ..wordings.choice import WordingChoice
    from .database import Database, Row, RunRow

__all__ = ["STORE_FILE", "Store", "Totals"]

STORE_FILE = "validation.sqlite3"
"""The store's name in the state directory."""

_MAX_NAME = 512
_MAX_ERROR = 8_192


@dataclass(frozen=True, slots=True)
class Totals:
    """How often a model was tried, over all runs, errors left out, and how often it succeeded."""

    test_count: int
    success_count: int


class Store:
    """Trials in a file; made by ``Store.open``. Safe to share between threads.

    ``notices`` names every damaged store that was set aside in this place: show them.
    """

    def __init__(self, database: Database, redact: Redact) -> None:
        self.path = database.path
        self.notices = database.notices
        self._database = database
        self._redact = redact

    @classmethod
    def open(cls, path: Path, *, redact: Redact = str) -> Store:
        """Open the store at ``path``, made with its folder where there is none.

        ``redact`` takes secrets out of every text before it is written. A damaged store is renamed and
        noticed. Raises ``StoreError`` when the place cannot be written, for a store of a newer version and
        for another program's database: those are left as they are.
        """
        from .database import Database

        return cls(Database(path), redact)

    def append(self, trial: Trial) -> Trial:
        """Write ``trial`` and return it as it was written: without secrets, sanitised, at most 256 KiB.

        Where a trial of the same ``run`` and ``number`` is there that is no error, and this is none, nothing
        is written, and that earlier one is returned: of each number one trial counts.

        Raises ``StoreError`` when it is not on the disk; what was written before is intact.
        """
        return self.append_all([trial])[0]

    def append_all(self, trials: Sequence[Trial]) -> list[Trial]:
        """As ``append``, many at once: all are written or none, for the time of one."""
        marks: dict[str, Fingerprint] = {}
        rows = [self._row(trial, marks) for trial in trials]
        kept = self._database.insert(rows, {digest: mark.text for digest, mark in marks.items()})
        if any(there is not row for there, row in zip(kept, rows, strict=True)):
            marks = self._fingerprints()
        return [_trial(row, marks) for row in kept]

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

    def finish(self, run_id: str) -> None:
        """Write that the run has finished now; one that had before stays as it is. Raises ``StoreError``."""
        self._database.finish(self._short(run_id), timestamp())

    def done(self, run_id: str) -> frozenset[int]:
        """The numbers of the run that have a trial which is no error: those are not run again."""
        return frozenset(self._database.done(self._short(run_id)))

    def choose(self, choice: WordingChoice) -> None:
        """Write which wording serves a model, in place of an earlier choice. Raises ``StoreError``."""
        self._database.choose(self._short(choice.model_id), self._redact(json.dumps(choice.as_dict())))

    def trials(self, model_id: str | None = None) -> list[Trial]:
        """Every trial, or those of one model, in the order in which they were written."""
        wanted = None if model_id is None else self._short(model_id)
        rows = self._database.rows(wanted)
        marks = self._fingerprints()
        return [_trial(row, marks) for row in rows]

    def records(self, model_id: str | None = None, present: Present = lambda record: {}) -> list[Record]:
        """The records of every model, or of one, without their trials; ``present`` as for ``judged``."""
        from ..evidence.counts import Counts
        from ..evidence.records import Record, judged

        wanted = None if model_id is None else self._short(model_id)
        counted = self._database.counts_of_records(wanted)
        marks = self._fingerprints()
        return judged(
            (
                Record(model, suite, marks[digest] if digest else None, Counts(*numbers), first, last)
                for model, suite, digest, *numbers, first, last in counted
            ),
            present,
        )

    def totals(self, model_id: str, fingerprint: Fingerprint | None = None) -> Totals:
        """The counts over all trials of one model, or over those of ``fingerprint`` where one is given."""
        digest = self._redacted(fingerprint).digest if fingerprint else None
        return Totals(*self._database.count(self._short(model_id), digest))

    def forget(self, chosen: Callable[[Trial], bool]) -> tuple[int, Path | None]:
        """Remove the trials that are ``chosen``; how many there were, and the copy of the whole store, with
        them in it, that was made beside it before. Without any nothing is done.

        Raises ``StoreError`` when the copy or the removal fails: then nothing is removed.
        """
        rows = self._database.numbered_rows()
        marks = self._fingerprints()
        numbers = [number for number, row in rows if chosen(_trial(row, marks))]
        if not numbers:
            return 0, None
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        backup = self.path.with_name(f"{self.path.name}.backup-{stamp}")
        self._database.remove(numbers, backup)
        return len(numbers), backup

    def close(self) -> None:
        """Close the file. What was written stays written."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fingerprints(self) -> dict[str, Fingerprint]:
        try:
            texts = self._database.fingerprints()
            return {digest: Fingerprint.from_json(text) for digest, text in texts.items()}
        except ValueError as error:
            raise StoreError(f"the validation store {self.path} cannot be read: {error}") from None

    def _row(self, trial: Trial, marks: dict[str, Fingerprint]) -> Row:
        """``trial`` as it is written; its fingerprint is added to ``marks``."""
        mark = self._redacted(trial.fingerprint) if trial.fingerprint else None
        if mark is not None:
            marks[mark.digest] = mark
        return (
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

    def _redacted(self, fingerprint: Fingerprint) -> Fingerprint:
        parts = {name: self._short(value) for name, value in fingerprint.as_dict().items()}
        return Fingerprint(**parts)

    def _short(self, text: str, characters: int = _MAX_NAME) -> str:
        return cut_text(clean_text(self._redact(text)), characters)


def _trial(row: Row, marks: Mapping[str, Fingerprint]) -> Trial:
    model_id, suite, scenario, ended, success, error, details, digest, is_error, run, number = row
    return Trial(
        model_id,
        suite,
        scenario,
        ended,
        bool(success),
        error,
        json.loads(details),
        marks[digest] if digest else None,
        is_error=bool(is_error),
        run=run,
        number=number,
    )


def _run(row: RunRow | None) -> Run | None:
    if row is None:
        return None
    run_id, plan, started, finished, contents = row
    return Run(run_id, plan, started, finished, json.loads(contents))
