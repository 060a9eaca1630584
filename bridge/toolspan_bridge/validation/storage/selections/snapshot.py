"""A store as it is at one moment: what is read of it twice is the same. Imports SQLAlchemy."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from ...evidence.records import Of, Present, Record, counted_records
from ...fingerprint import Fingerprint
from ..places import Place
from ..rows import trial_of
from ..transactions import reporting
from ..trial import Trial
from .chosen_rows import chosen_rows
from .selection import Selection

__all__ = ["Snapshot"]


class Snapshot:
    """What ``connection`` reads of the store at ``place``, until it is closed; ``fingerprints`` gives those
    of the trials by their digests, ``as_written`` a selection in the words that the store has."""

    def __init__(
        self,
        connection: Connection,
        place: Place,
        fingerprints: Callable[[], Mapping[str, Fingerprint]],
        as_written: Callable[[Selection], Selection],
    ) -> None:
        self._connection = connection
        self._place = place
        self._fingerprints = fingerprints
        self._as_written = as_written

    def numbered(self, selection: Selection) -> Generator[tuple[int, Trial]]:
        """Each of the chosen trials with its id in the store, in the order in which they were written. Raises
        ``StoreError``, also at the end where one is missing."""
        marks: Mapping[str, Fingerprint] = {}
        with reporting(self._place, "read"):
            for number, row in chosen_rows(self._connection, self._as_written(selection)):
                if row.fingerprint and row.fingerprint not in marks:
                    marks = self._fingerprints()
                yield number, trial_of(row, marks)

    def records(self, selection: Selection, present: Present = lambda record: {}) -> list[Record]:
        """The records of the chosen trials, which are counted one after another. The trials of a record are
        read anew each time that they are gone through, while this is open. Raises ``StoreError``."""

        def again(of: Of) -> _Trials:
            model, suite, mark = of
            chosen = replace(selection, models=(model,), suites=(suite,))
            return _Trials(self, replace(chosen, fingerprint=mark.digest if mark else ""))

        return counted_records((trial for _, trial in self.numbered(selection)), present, again)


@dataclass(frozen=True, slots=True)
class _Trials:
    """The trials of a record, read each time that they are gone through."""

    snapshot: Snapshot
    selection: Selection

    def __iter__(self) -> Iterator[Trial]:
        return (trial for _, trial in self.snapshot.numbered(self.selection))
