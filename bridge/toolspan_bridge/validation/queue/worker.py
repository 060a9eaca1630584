"""A worker: takes trials off a queue and makes them, beside any number of others.

It looks for lanes with jobs whenever it is told of a change, and once a second. For each in which it takes
part procrastinate runs a worker of its own, which fetches jobs, gives signs of life, and puts back what it
cannot finish; so each provider has its slots, and a run that is refused here is left to others.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from pydantic import ValidationError
from typing_extensions import override

from ...errors import BridgeError, StoreError, UnreachableError
from ..runs.lanes import Concurrency
from ..runs.limits import Stop
from ..runs.writer import TrialWriter
from ..storage.store import Store
from ..storage.trial import Trial
from .connection import Queue
from .counts import WorkerCounts
from .lane import Account, GivenBack, Lane, Means
from .listening import Changes, listening, tell
from .parcel import Batch
from .presence import Presence
from .spending import SharedBudget
from .steady import stored
from .takeover import TASK, take_over
from .taking_part import AskerOf, RunHere, run_here

if TYPE_CHECKING:
    from procrastinate import JobContext
    from procrastinate.jobs import Job
    from procrastinate.retry import RetryDecision

__all__ = ["GRACE", "LEASE", "Worker", "WorkerSettings"]

LEASE = 30.0
"""Seconds without a sign of life after which a worker's trials are given to others."""

GRACE = 8.0
"""Seconds that running trials have to end once a worker is stopped: those of containers have 10."""

_LOOKS_S = 1.0
_LOOKS_IN_A_LEASE = 6
_AGAIN_S = 2.0

_LANES = """
    SELECT queue_name AS lane, count(*) AS jobs FROM procrastinate_jobs
    WHERE status = 'todo' AND task_name = %(task)s AND (scheduled_at IS NULL OR scheduled_at <= now())
    AND NOT EXISTS (
        SELECT FROM toolspan_queue_refusals WHERE lane = queue_name AND worker = %(worker)s
        AND since > now() - interval '1 minute'
    )
    GROUP BY queue_name ORDER BY min(id)
"""
_SIZE = """
    SELECT CASE jsonb_typeof(args -> 'numbers')
        WHEN 'array' THEN jsonb_array_length(args -> 'numbers') ELSE 1 END AS size
    FROM procrastinate_jobs WHERE queue_name = %(lane)s AND status = 'todo' ORDER BY id LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How a worker works: how many trials at once at each provider; after so many seconds without a sign of
    life (``lease``) its trials are others'; the hash of its ``tools``; its ``name``, for people."""

    tools: str
    name: str
    concurrency: Concurrency = field(default_factory=Concurrency)
    lease: float = LEASE


class Worker:
    """Makes the trials that are on ``queue`` and keeps them in ``store``. ``asker_of`` gives what asks models
    here; ``say`` is told what happens, for people."""

    def __init__(
        self,
        queue: Queue,
        store: Store,
        asker_of: AskerOf,
        settings: WorkerSettings,
        say: Callable[[str], None],
    ) -> None:
        self._queue = queue
        self._store = store
        self._asker_of = asker_of
        self._settings = settings
        self._say = say
        self._presence = Presence(queue, settings.name, settings.lease)
        self._counts = WorkerCounts(queue, self._presence.id)
        self._changes = Changes()
        self._lanes: dict[str, Lane] = {}
        self._runs: dict[str, RunHere] = {}
        self._accounts: dict[str, Account] = {}
        self._refused: dict[str, str] = {}
        self._takes_over = -math.inf
        self._fault: Exception | None = None

    async def run(self, stop: Stop) -> None:
        """Work until ``stop`` is asked for.

        Trials that run then have ``GRACE`` seconds to end; what is left goes back to the queue. Raises
        ``StoreError`` when a trial cannot be kept. While the queue cannot be reached it waits.
        """
        self._add_task()
        self._queue.steady.gives_up = lambda: stop.is_asked
        async with listening(self._queue) as self._changes, self._writing(stop) as writer:
            means = Means(self._queue, self._store, writer, stop)
            try:
                async with self._presence.kept():
                    await self._work(means)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._end_all()
        if self._fault is not None:
            raise self._fault

    def wake(self) -> None:
        """Have it look at once whether it is to stop."""
        self._changes.happened()

    def leave(self) -> None:
        """Give back at once what it runs."""
        for lane in self._lanes.values():
            for scope in list(lane.scopes):
                scope.cancel()

    async def _work(self, means: Means) -> None:
        while not (means.stop.is_asked or self._fault):
            try:
                await self._look(means)
            except UnreachableError as error:
                self._say(f"{error.message}; it is tried again")
                await self._changes.wait(_AGAIN_S)
                continue
            await self._changes.wait(_LOOKS_S)

    async def _look(self, means: Means) -> None:
        """Begin and end lanes, as there are jobs for them."""
        await self._take_over()
        await self._counts.save()
        found = await self._queue.rows(_LANES, {"task": TASK, "worker": self._presence.id})
        waiting = [row["lane"] for row in found]
        for lane in list(self._lanes.values()):
            if lane.error is not None or not (lane.running or lane.name in waiting):
                await self._end(lane)
        for name in waiting:
            if name not in self._lanes:
                await self._begin(name, means, waiting)

    async def _take_over(self) -> None:
        lease = self._settings.lease
        if anyio.current_time() < self._takes_over:
            return
        self._takes_over = anyio.current_time() + lease / _LOOKS_IN_A_LEASE
        if count := await take_over(self._queue, lease):
            jobs = "1 job" if count == 1 else f"{count:,} jobs"
            self._say(f"{jobs} of workers that gave no sign of life wait again")

    async def _begin(self, name: str, means: Means, waiting: Collection[str]) -> None:
        try:
            lane = await self._lane(name, means)
        except BridgeError as error:
            await self._refuse(name, error)
            return
        others = [each for each in self._lanes.values() if each.account is lane.account]
        taken = sum(each.allotted if each.name in waiting else each.busy for each in others)
        lane.allotted = lane.account.slots - taken
        if lane.allotted > 0:
            for first in await self._queue.rows(_SIZE, {"lane": name}):
                lane.size = max(1, first["size"])
            self._lanes[name] = lane
            lane.task = asyncio.create_task(self._fetch(lane), name=name)
            self._say(f"run {lane.run.id[:8]}: trials of {lane.model}, {lane.allotted} at once")

    async def _lane(self, name: str, means: Means) -> Lane:
        """This worker's part in the lane. Raises ``BridgeError`` where it takes none."""
        _, run_id, index = name.split("/")
        if run_id not in self._runs:
            self._runs[run_id] = await run_here(
                self._queue, self._store, run_id, self._settings.tools, self._asker_of
            )
        run = self._runs[run_id]
        model = run.plan.models[int(index)]
        await run.check(model)
        served = await run.asker.served(model)
        slots = self._settings.concurrency.of(served)
        account = self._accounts.setdefault(served.account or served.provider, Account(slots))
        budget = SharedBudget(self._queue, run_id, run.usd, self._settings.lease)
        return Lane(means, name, run, model, account, budget)

    async def _fetch(self, lane: Lane) -> None:
        """Have procrastinate fetch the jobs of ``lane`` until it is cancelled."""
        lease = self._settings.lease
        while True:
            try:
                with self._queue.reporting():
                    await self._queue.app.run_worker_async(
                        queues=[lane.name],
                        name=f"{self._settings.name} {lane.name}",
                        concurrency=lane.jobs,
                        fetch_job_polling_interval=_LOOKS_S,
                        shutdown_graceful_timeout=GRACE,
                        listen_notify=False,
                        delete_jobs="successful",
                        install_signal_handlers=False,
                        update_heartbeat_interval=lease / 3,
                        stalled_worker_timeout=lease,
                    )
            except (StoreError, UnreachableError) as error:
                if lane.is_over:
                    return
                self._say(f"{error.message}; it is tried again")
            await asyncio.sleep(_AGAIN_S)

    async def _refuse(self, name: str, error: BridgeError) -> None:
        if self._refused.get(name) != error.message:
            self._refused[name] = error.message
            self._say(f"run {name.split('/')[1][:8]}: takes no part: {error.message}")
        await self._presence.refuse(name, error)
        await tell(self._queue)

    async def _end(self, lane: Lane) -> None:
        """Stop fetching for ``lane``, and wait for what it runs."""
        lane.is_over = True
        if lane.task is not None:
            lane.task.cancel()
            await asyncio.wait([lane.task])
        del self._lanes[lane.name]
        if lane.error is not None:
            await self._refuse(lane.name, lane.error)
        await self._counts.save()
        if not any(each.run is lane.run for each in self._lanes.values()):
            self._runs.pop(lane.run.id, None)
            self._counts.forget(lane.run.id)
        await tell(self._queue)

    async def _end_all(self) -> None:
        for lane in self._lanes.values():
            lane.is_over = True
            if lane.task is not None:
                lane.task.cancel()
        tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
        if tasks:
            await asyncio.wait(tasks)
        self._lanes.clear()

    @asynccontextmanager
    async def _writing(self, stop: Stop) -> AsyncGenerator[TrialWriter]:
        """What writes trials while the block runs; where it cannot, the worker ends. Until it is to stop it
        waits for a server that is away."""

        async def append(trials: Sequence[Trial]) -> list[Trial]:
            return await stored(partial(self._store.append_all, trials), lambda: stop.is_asked)

        fault: Exception | None = None
        async with (
            anyio.create_task_group() as tasks,
            TrialWriter(self._store, self._counts.add, append) as writer,
        ):
            tasks.start_soon(self._write, writer)
            try:
                yield writer
            except Exception as error:
                fault = error  # carried past the task group, which would wrap it
        if fault is not None:
            raise fault

    async def _write(self, writer: TrialWriter) -> None:
        try:
            await writer.run()
        except Exception as fault:
            self._fault = fault
            self.leave()
            self.wake()

    def _add_task(self) -> None:
        """Tell procrastinate what a job is."""
        from procrastinate.retry import BaseRetryStrategy, RetryDecision

        class GiveBack(BaseRetryStrategy):
            @override
            def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
                given_back = isinstance(exception, GivenBack | asyncio.CancelledError)
                return RetryDecision(retry_at=datetime.now(UTC)) if given_back else None

        async def trials(context: JobContext, /, **arguments: Any) -> None:
            await self._make(context.job, arguments)

        self._queue.app.task(name=TASK, pass_context=True, retry=GiveBack())(trials)

    async def _make(self, job: Job, arguments: dict[str, Any]) -> None:
        lane = self._lanes.get(job.queue)
        if lane is None:
            raise GivenBack
        try:
            batch = Batch.model_validate(arguments)
            await lane.make(batch, again=job.attempts > 0)
        except (GivenBack, UnreachableError) as error:
            raise GivenBack from error
        except ValidationError as error:
            lane.error = StoreError(f"a job of the queue cannot be read: {error.errors()[0]['msg']}")
            self.wake()
            raise
        except Exception as fault:
            self._fault = self._fault or fault
            self.wake()
            raise GivenBack from fault
        finally:
            if lane.error is not None or not lane.held:
                self.wake()
