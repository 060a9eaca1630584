"""Puts the trials of a plan on a queue: what is missing of its unfinished run, or a new run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio.to_thread

from ..fingerprint import Fingerprint
from ..runs.journal import Resume, changed
from ..runs.limits import RunLimits
from ..runs.plan import Plan
from ..storage.run import Run
from ..storage.store import Store
from ..storage.trial import timestamp
from .connection import Queue
from .counts import count_earlier
from .parcel import Parcel, batches, lane_name
from .state import end_run
from .takeover import TASK

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["Put", "put"]

_LOCKED = "SELECT pg_advisory_xact_lock(hashtextextended(%(plan)s, 0))"
_STANDING = """
    SELECT ended, (
        SELECT count(*) FROM procrastinate_jobs
        WHERE queue_name = ANY(%(lanes)s) AND status IN ('todo', 'doing')
    ) AS jobs
    FROM toolspan_queue_runs WHERE id = %(run)s
"""
_RUN = """
    INSERT INTO toolspan_queue_runs (id, deadline, usd, parcel)
    VALUES (%(run)s, now() + %(seconds)s::float * interval '1 second', %(usd)s, %(parcel)s)
    ON CONFLICT (id) DO UPDATE
    SET put = now(), ended = '', deadline = excluded.deadline, usd = excluded.usd, parcel = excluded.parcel
"""
_FORGET = (
    "DELETE FROM toolspan_queue_spending WHERE run = %(run)s",
    "DELETE FROM toolspan_queue_counts WHERE run = %(run)s",
    "DELETE FROM toolspan_queue_refusals WHERE lane = ANY(%(lanes)s)",
    "SELECT pg_notify('toolspan_queue', '')",
)


@dataclass(frozen=True, slots=True)
class Put:
    """A run whose trials are on a queue: its ``id``, the names of its ``lanes``, one for each model of the
    plan, how many trials were ``put`` now, how many are ``done``, and ``notes`` for people."""

    id: str
    lanes: tuple[str, ...]
    put: int
    done: int
    notes: tuple[str, ...] = ()


async def put(
    queue: Queue, store: Store, plan: Plan, parcel: Parcel, limits: RunLimits, resume: Resume
) -> Put:
    """Put what is missing of ``plan`` on ``queue``, and say in ``store`` which run it is of.

    Where trials of the run are on the queue already, nothing is put: that run goes on, with the limits that
    it has. Raises ``StoreError``; as ``Queue.rows``.
    """
    marks = {model: Fingerprint(**parts).digest for model, parts in parcel.fingerprints.items()}
    contents = {**plan.contents, "fingerprints": marks}
    async with queue.transaction() as connection:
        await connection.execute(_LOCKED, {"plan": plan.digest})
        run, notes, is_new = await _run(queue, store, plan, contents, resume)
        lanes = tuple(lane_name(run.id, index) for index in range(len(plan.models)))
        done = frozenset[int]() if is_new else await anyio.to_thread.run_sync(store.done, run.id)
        found = Put(run.id, lanes, 0, len(done), notes)
        if await _is_at_work(connection, found):
            return _followed(found, run, plan, limits)
        await connection.execute(
            _RUN,
            {"run": run.id, "seconds": limits.seconds, "usd": limits.usd, "parcel": parcel.model_dump_json()},
        )
        for statement in _FORGET:
            await connection.execute(statement, {"run": run.id, "lanes": list(lanes)})
        if done:
            await count_earlier(connection, store, run.id)
        return replace(found, put=await _put(queue, connection, run.id, plan, done))


async def _run(
    queue: Queue, store: Store, plan: Plan, contents: Mapping[str, Any], resume: Resume
) -> tuple[Run, tuple[str, ...], bool]:
    """The run to go on with, or a new one, what is to be said of it, and whether it is new."""
    found = None if resume == "never" else await anyio.to_thread.run_sync(store.unfinished, plan.digest)
    notes: tuple[str, ...] = ()
    if found is not None:
        why = "--fresh" if resume == "fresh" else changed(found.contents, contents)
        if not why:
            note = f"goes on with the unfinished run of {found.started} (--fresh starts a new one)"
            return found, (note,), False
        await end_run(queue, found.id, "closed")
        await anyio.to_thread.run_sync(store.finish, found.id)
        notes = (f"the unfinished run of {found.started} is not gone on with ({why}): this is a new run",)
    run = Run(uuid4().hex, plan.digest, timestamp(), contents=contents)
    await anyio.to_thread.run_sync(store.begin, run)
    return run, notes, True


async def _is_at_work(connection: Connection, run: Put) -> bool:
    cursor = await connection.execute(_STANDING, {"run": run.id, "lanes": list(run.lanes)})
    found = await cursor.fetchone()
    return found is not None and not found["ended"] and found["jobs"] > 0


def _followed(found: Put, run: Run, plan: Plan, limits: RunLimits) -> Put:
    note = (
        f"the run of {run.started} is on the queue: {found.done:,} of {len(plan):,} trials are done (--fresh "
        "ends it and starts a new one)"
    )
    own = ("its limits of cost and time stay as they were given first",) if limits != RunLimits() else ()
    return replace(found, notes=(note, *own))


async def _put(queue: Queue, connection: Connection, run: str, plan: Plan, done: frozenset[int]) -> int:
    from procrastinate.jobs import Job

    jobs, count = list[Job](), 0
    for lane, batch in batches(run, plan, done):
        deferrer = queue.app.configure_task(TASK, queue=lane)
        jobs.append(deferrer.make_new_job(**batch.model_dump(mode="json")))
        count += len(batch.numbers)
    if jobs:
        await queue.app.job_manager.batch_defer_jobs_async(jobs, connection=connection)
    return count
