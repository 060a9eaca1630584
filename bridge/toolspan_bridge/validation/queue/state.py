"""How a run on a queue stands: what waits, what runs, who is there, and who does not take part and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .connection import Queue

__all__ = ["Refusal", "RunState", "end_run", "state_of_run"]

_JOBS = """
    SELECT queue_name AS lane, count(*) FILTER (WHERE status = 'todo') AS waiting,
        count(*) FILTER (WHERE status = 'doing') AS running
    FROM procrastinate_jobs WHERE queue_name = ANY(%(lanes)s) AND status IN ('todo', 'doing')
    GROUP BY queue_name
"""
_RUN = """
    SELECT ended, coalesce((SELECT sum(usd) FROM toolspan_queue_spending WHERE run = id), 0)::float AS usd,
        coalesce(extract(epoch FROM deadline - now()) <= 0, false) AS late
    FROM toolspan_queue_runs WHERE id = %(run)s
"""
_WORKERS = """
    SELECT id, name FROM toolspan_queue_workers WHERE seen > now() - lease * interval '1 second' ORDER BY name
"""
_REFUSALS = """
    SELECT lane, worker, code, reason FROM toolspan_queue_refusals WHERE lane = ANY(%(lanes)s)
    ORDER BY lane, worker
"""
_END = "UPDATE toolspan_queue_runs SET ended = %(ended)s WHERE id = %(run)s AND ended = ''"
_CANCEL = """
    SELECT procrastinate_cancel_job_v1(id, false, true) FROM procrastinate_jobs
    WHERE queue_name LIKE %(lanes)s AND status = 'todo'
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A worker (by its name) does not take part in a lane: ``code`` and ``reason`` are those of the error."""

    lane: str
    worker: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunState:
    """The jobs of a run that are ``waiting`` and ``running``, by their lanes; why no more are begun
    (``ended``, empty while they are); whether its time is over (``late``); what it cost so far in US dollars;
    the names of the ``workers`` that are there, of any run; and their ``refusals``."""

    waiting: dict[str, int]
    running: int
    ended: str
    late: bool
    usd: float
    workers: tuple[str, ...]
    refusals: tuple[Refusal, ...]

    @property
    def is_over(self) -> bool:
        """Whether no trial is left: none waits, and none runs at a worker that is there."""
        if self.waiting:
            return False
        return not self.running or (bool(self.ended) and not self.workers)

    @property
    def is_stuck(self) -> bool:
        """Whether there are workers, but none that takes part in what is left."""
        if not self.workers or not self.waiting or self.running:
            return False
        refused = {(each.lane, each.worker) for each in self.refusals}
        return all((lane, worker) in refused for lane in self.waiting for worker in self.workers)


async def state_of_run(queue: Queue, run: str, lanes: Sequence[str]) -> RunState:
    """How ``run`` stands; ``lanes`` are the names of its queues. Raises as ``Queue.rows``."""
    of_lanes = {"lanes": list(lanes)}
    jobs = await queue.rows(_JOBS, of_lanes)
    found = await queue.rows(_RUN, {"run": run})
    names = {row["id"]: row["name"] for row in await queue.rows(_WORKERS)}
    refusals = await queue.rows(_REFUSALS, of_lanes)
    return RunState(
        {row["lane"]: row["waiting"] for row in jobs if row["waiting"]},
        sum(row["running"] for row in jobs),
        found[0]["ended"] if found else "closed",
        bool(found and found[0]["late"]),
        found[0]["usd"] if found else 0.0,
        tuple(names.values()),
        tuple(
            Refusal(row["lane"], names[row["worker"]], row["code"], row["reason"])
            for row in refusals
            if row["worker"] in names
        ),
    )


async def end_run(queue: Queue, run: str, why: str) -> None:
    """Begin no more trials of ``run``: ``why`` is ``max_cost``, ``max_time`` or ``closed``. Raises as
    ``Queue.rows``."""
    async with queue.transaction() as connection:
        await connection.execute(_END, {"run": run, "ended": why})
        await connection.execute(_CANCEL, {"lanes": f"ts/{run}/%"})
