"""Cells: what all trials of a scenario come to, kept beside them, so that no count reads a trial.

A cell is of one model, suite, scenario and fingerprint. It is written in the transaction of each of its
trials and has a checksum of its own: its counts stay those of what was written, whatever becomes of a trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from ..evidence.counts import Counts
from ..evidence.figures import Figures
from ..evidence.records import Record, Summary
from ..fingerprint import Fingerprint
from .rows import Damaged, Row, crc, trial_of

__all__ = ["CELL_COLUMNS", "Cell", "cell_of", "key_of", "records_of_cells"]

CELL_COLUMNS = (
    "key",
    "model_id",
    "suite",
    "scenario",
    "fingerprint",
    "n",
    "successes",
    "errors",
    "first",
    "last",
    "figures",
)
"""Those that are in the checksum."""


@dataclass(slots=True)
class Cell:
    """The counts of a cell; ``first`` and ``last`` are when its first and last trial ended."""

    model_id: str
    suite: str
    scenario: str
    fingerprint: str
    n: int = 0
    successes: int = 0
    errors: int = 0
    first: str = ""
    last: str = ""
    figures: Figures = field(default_factory=Figures)

    @property
    def key(self) -> str:
        """What names the cell, of a fixed size: a database may not take long names into an index."""
        return _key(self.model_id, self.suite, self.scenario, self.fingerprint)

    @property
    def written(self) -> int:
        """How many trials the cell has, errors too."""
        return self.n + self.errors

    def add(self, row: Row) -> None:
        """Count the trial ``row``."""
        self.n += not row.is_error
        self.successes += bool(row.success and not row.is_error)
        self.errors += bool(row.is_error)
        self.first = min(self.first or row.timestamp, row.timestamp)
        self.last = max(self.last, row.timestamp)
        if not row.is_error:
            self.figures.add_trial(trial_of(row._replace(fingerprint=""), {}))

    @property
    def values(self) -> dict[str, object]:
        """Every column with its value, and the checksum."""
        own = (self.model_id, self.suite, self.scenario, self.fingerprint, self.n, self.successes)
        all_of_it = (self.key, *own, self.errors, self.first, self.last, self.figures.text)
        return {**dict(zip(CELL_COLUMNS, all_of_it, strict=True)), "checksum": crc(all_of_it)}


def key_of(row: Row) -> str:
    """The key of the cell of a trial."""
    return _key(row.model_id, row.suite, row.scenario, row.fingerprint)


def cell_of(values: Mapping[str, object]) -> Cell:
    """The cell that was written as ``values``, its columns. Raises ``Damaged`` where they are other ones."""
    found = tuple(values[name] for name in CELL_COLUMNS)
    if crc(found) != values["checksum"]:
        raise Damaged(f"the counts of {values['model_id']!r} are not as they were written")
    model, suite, scenario, fingerprint, first, last = (str(each) for each in (*found[1:5], *found[8:10]))
    n, successes, errors = (int(str(each)) for each in found[5:8])
    figures = Figures.from_json(str(found[10]))
    return Cell(model, suite, scenario, fingerprint, n, successes, errors, first, last, figures)


def records_of_cells(cells: Iterable[Cell], marks: Mapping[str, Fingerprint]) -> list[Record]:
    """The records that ``cells`` make together, in any order. Raises ``Damaged`` where a fingerprint is
    missing."""
    grouped: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        if cell.written:
            grouped.setdefault((cell.model_id, cell.suite, cell.fingerprint), []).append(cell)
    if missing := {digest for *_, digest in grouped if digest and digest not in marks}:
        raise Damaged(f"the fingerprint {missing.pop()} is missing")
    return [
        Record(
            model,
            suite,
            marks[digest] if digest else None,
            Counts(*(sum(getattr(cell, name) for cell in group) for name in ("n", "successes", "errors"))),
            min(cell.first for cell in group),
            max(cell.last for cell in group),
            summaries=tuple(
                Summary(cell.scenario, Counts(cell.n, cell.successes, cell.errors), cell.figures)
                for cell in sorted(group, key=lambda cell: (cell.first, cell.scenario))
            ),
        )
        for (model, suite, digest), group in grouped.items()
    ]


def _key(*parts: str) -> str:
    return sha256("\x00".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()
