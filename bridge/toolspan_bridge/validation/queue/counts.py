"""How far a run is: each worker counts what it makes, in a row of its own, for whoever follows the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import anyio.to_thread

from ..storage.selections.selection import Selection
from ..storage.store import Store
from ..storage.trial import Trial
from .connection import Queue

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["Counted", "WorkerCounts", "count_earlier", "counts_of_run"]

_SAVE = """
    INSERT INTO toolspan_queue_counts (run, worker, model, suite, successes, failures, errors, usd)
    VALUES (%(run)s, %(worker)s, %(model)s, %(suite)s, %(successes)s, %(failures)s, %(errors)s, %(usd)s)
    ON CONFLICT (run, worker, model, suite) DO UPDATE
    SET successes = excluded.successes, failures = excluded.failures, errors = excluded.errors,
        usd = excluded.usd
"""
_READ = """
    SELECT model, suite, sum(successes)::int AS successes, sum(failures)::int AS failures,
        sum(errors)::int AS errors, sum(usd)::float AS usd
    FROM toolspan_queue_counts WHERE run = %(run)s GROUP BY model, suite
"""


@dataclass(slots=True)
class Counted:
    """What trials came to; ``usd`` is the known cost, ``None`` where none is known."""

    successes: int = 0
    failures: int = 0
    errors: int = 0
    usd: float | None = None

    def add(self, trial: Trial) -> None:
        """Count ``trial``."""
        self.errors += trial.is_error
        self.successes += trial.success and not trial.is_error
        self.failures += not (trial.success or trial.is_error)
        if trial.usd is not None:
            self.usd = (self.usd or 0.0) + trial.usd


class WorkerCounts:
    """What ``worker`` has made, of each run, model and suite."""

    def __init__(self, queue: Queue, worker: str) -> None:
        self._queue = queue
        self._worker = worker
        self._times = 0
        self._counted: dict[tuple[str, str, str, str], Counted] = {}
        self._rows: dict[str, str] = {}
        self._unsaved: set[tuple[str, str, str, str]] = set()

    def add(self, trial: Trial) -> None:
        """Count ``trial``, which was kept."""
        row = self._rows.setdefault(trial.run, f"{self._worker}/{self._times}")
        key = (trial.run, row, trial.model_id, trial.suite)
        self._counted.setdefault(key, Counted()).add(trial)
        self._unsaved.add(key)

    async def save(self) -> None:
        """Tell those who follow the runs. Raises as ``Queue.rows``."""
        for key in sorted(self._unsaved):
            values = dict(zip(("run", "worker", "model", "suite"), key, strict=True))
            self._unsaved.discard(key)
            try:
                await self._queue.rows(_SAVE, values | asdict(self._counted[key]))
            except BaseException:
                self._unsaved.add(key)
                raise

    def forget(self, run: str) -> None:
        """Let go of the counts of ``run``, which were saved; where it comes back, new ones stand beside
        them."""
        self._times += 1
        self._rows.pop(run, None)
        self._counted = {key: counted for key, counted in self._counted.items() if key[0] != run}


async def count_earlier(connection: Connection, store: Store, run: str) -> None:
    """Count the trials of ``run`` that are in ``store``, made before it was put. Raises ``StoreError`` and
    ``psycopg.Error``."""
    found: dict[tuple[str, str], Counted] = {}

    def count() -> None:
        for trial in store.stream(Selection(run=run)):
            found.setdefault((trial.model_id, trial.suite), Counted()).add(trial)

    await anyio.to_thread.run_sync(count)
    for (model, suite), counted in found.items():
        row = {"run": run, "worker": "", "model": model, "suite": suite}
        await connection.execute(_SAVE, row | asdict(counted))


async def counts_of_run(queue: Queue, run: str) -> dict[tuple[str, str], Counted]:
    """What was made of ``run`` by model and suite, without errors of before it was put. Raises as
    ``Queue.rows``."""
    found = await queue.rows(_READ, {"run": run})
    names = ("successes", "failures", "errors", "usd")
    return {(row["model"], row["suite"]): Counted(*(row[name] for name in names)) for row in found}
