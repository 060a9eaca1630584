"""Stores of trials while a run is recorded, and while it is replayed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from typing_extensions import override

from ..fingerprint import Fingerprint
from ..storage.run import Run
from ..storage.store import Store, Totals
from ..storage.trial import Trial
from .made import Kept
from .recorder import Recorder
from .replay import Replay

if TYPE_CHECKING:
    from ..evidence.records import Present, Record
    from ..storage.selections.snapshot import Snapshot

__all__ = ["RecordingStore", "ReplayStore"]


class RecordingStore(Store):
    """``store``, whose runs ``recorder`` follows."""

    def __init__(self, store: Store, recorder: Recorder) -> None:
        super().__init__(store._database, store._redact)  # it is a store of the same place
        self._recorder = recorder

    @override
    def begin(self, run: Run) -> None:
        """Begin ``run`` and its recording. Raises also as ``Recorder.begin``."""
        self._recorder.begin(run.id)
        super().begin(run)

    @override
    def unfinished(self, plan: str) -> Run | None:
        """The unfinished run, whose recording is gone on with unless another one is begun."""
        run = super().unfinished(plan)
        if run is not None:
            self._recorder.expect(run.id)
        return run

    @override
    def append_all(self, trials: Sequence[Trial]) -> list[Trial]:
        """As ``append`` each, in the order of the recording; that is then on the disk too."""
        kept = [super(RecordingStore, self).append(trial) for trial in trials]
        self._recorder.sync()
        return kept


class ReplayStore(Store):
    """``store``, as it is written while ``replay`` runs: each trial once, however often it is replayed, since
    it has the run and the number of the recorded one. What is not as recorded is not kept.

    Trials are written in the order of the recorded ones, once they are asked for or the run is finished.
    """

    def __init__(self, store: Store, replay: Replay) -> None:
        super().__init__(store._database, store._redact)  # it is a store of the same place
        self.notices = (*self.notices, *replay.recorded.notes)
        self._kept = replay.kept
        self._earlier = replay.earlier
        self._waiting: list[tuple[Kept, Trial]] = []
        self._lock = RLock()

    @override
    def begin(self, run: Run) -> None:
        """Nothing: the run is the recorded one."""

    @override
    def unfinished(self, plan: str) -> Run | None:
        """``None``: what is recorded is replayed from its beginning."""
        return None

    @override
    def done(self, run_id: str) -> frozenset[int]:
        """None: every trial is made again."""
        return frozenset()

    @override
    def finish(self, run_id: str) -> None:
        """Write what waits."""
        self._write()

    @override
    def append(self, trial: Trial) -> Trial:
        """``trial`` as it will be kept."""
        return self.append_all([trial])[0]

    @override
    def append_all(self, trials: Sequence[Trial]) -> list[Trial]:
        """``trials`` as they will be kept."""
        with self._lock:
            for trial in trials:
                of = trial.run, trial.number
                mine = [(kept, trial)] if (kept := self._kept.get(of)) else []
                for kept, each in (*self._earlier.get(of, ()), *mine):
                    self._waiting.append((kept, replace(each, run=kept.run, number=kept.number)))
        return [self.as_kept(trial) for trial in trials]

    @override
    @contextmanager
    def snapshot(self) -> Generator[Snapshot]:
        """As ``Store.snapshot``, with what waits."""
        self._write()
        with super().snapshot() as snapshot:
            yield snapshot

    @override
    def records(self, model_id: str | None = None, present: Present = lambda record: {}) -> list[Record]:
        """As ``Store.records``, with what waits."""
        self._write()
        return super().records(model_id, present)

    @override
    def totals(self, model_id: str, fingerprint: Fingerprint | None = None) -> Totals:
        """As ``Store.totals``, with what waits."""
        self._write()
        return super().totals(model_id, fingerprint)

    def _write(self) -> None:
        with self._lock:
            waiting = [trial for _, trial in sorted(self._waiting, key=lambda each: each[0].order)]
            self._waiting = []
            if any(trial.is_error for trial in waiting):
                known = {_key(each) for each in super().trials() if each.is_error}
                waiting = [each for each in waiting if not each.is_error or _key(each) not in known]
            for trial in waiting:  # one by one: of many at once, the order is not kept
                super().append(trial)


def _key(trial: Trial) -> tuple[str, int, str]:
    """By what an error that was kept already is known: a store keeps several of one number."""
    return trial.run, trial.number, trial.timestamp
