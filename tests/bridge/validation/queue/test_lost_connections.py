"""A server that ends all connections, as when it restarts, ends no worker and no run, and loses no trial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import anyio
import psycopg
import pytest
from typing_extensions import override

from tests.support.postgres import POSTGRES
from tests.support.queues import TOOLS, Models, database, parcel_for, plan_of
from toolspan_bridge.errors import StoreError
from toolspan_bridge.validation import Concurrency, Conversed, RunLimits, Scenario, Stop, Store
from toolspan_bridge.validation.queue.connection import Queue, opened_queue
from toolspan_bridge.validation.queue.following import follow
from toolspan_bridge.validation.queue.putting import Put, put
from toolspan_bridge.validation.queue.steady import stored
from toolspan_bridge.validation.queue.worker import Worker, WorkerSettings

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I14.6.33")]

PLAN = plan_of(10, 10)
EVERY = 15


@pytest.fixture
def url() -> Iterator[str]:
    with database() as url:
        yield url


async def put_on(queue: Queue, store: Store) -> Put:
    return await put(queue, store, PLAN, parcel_for(PLAN), RunLimits(), "unfinished")


def end_all(url: str) -> None:
    """End every connection to the database at ``url``."""
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            (url.rpartition("/")[2],),
        )


@dataclass
class _Ending(Models):
    """Models for which all connections are ended at each ``EVERY``-th question."""

    url: str = ""

    @override
    async def ask(self, model: str, scenario: Scenario) -> Conversed:
        if len(self.asked) % EVERY == EVERY - 1:
            await anyio.to_thread.run_sync(end_all, self.url)
        return await super().ask(model, scenario)


async def test_workers_and_who_follows_them_go_on_when_connections_are_ended(url: str) -> None:
    models = _Ending(url=url)

    async def asker(reasoning: object) -> Models:
        return models

    settings, stop = WorkerSettings(TOOLS, "host:1", Concurrency(4), 2.0), Stop()
    with Store.open(url) as store:
        async with opened_queue(url) as queue, opened_queue(url) as other:
            run = await put_on(queue, store)
            worker = Worker(other, store, asker, settings, lambda text: None)
            with anyio.fail_after(120):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(worker.run, stop)
                    await follow(queue, run, Stop(), lambda state, counted: None)
                    await anyio.to_thread.run_sync(end_all, url)  # it stops all the same
                    stop.now()
                    worker.wake()
        assert sorted(trial.number for trial in store.trials()) == list(range(1, 101))


async def test_a_job_that_was_fetched_when_the_connection_was_lost_comes_back(url: str) -> None:
    with Store.open(url) as store:
        async with opened_queue(url) as queue:
            run = await put_on(queue, store)
            manager = queue.app.job_manager
            worker = await manager.register_worker()
            held = await manager.fetch_job([run.lanes[0]], worker)
            assert held is not None
            fetch = "SELECT (procrastinate_fetch_job_v2(%(lanes)s::varchar[], %(worker)s)).id"
            [lost] = await queue.rows(fetch, {"lanes": list(run.lanes), "worker": worker})
            await anyio.to_thread.run_sync(end_all, url)
            found = list[int | None]()
            while (job := await manager.fetch_job([run.lanes[0]], worker)) is not None:
                found.append(job.id)
    assert lost["id"] in found
    assert held.id not in found


async def test_the_end_of_a_job_that_was_written_already_is_no_fault(url: str) -> None:
    from procrastinate.jobs import Status

    with Store.open(url) as store:
        async with opened_queue(url) as queue:
            run = await put_on(queue, store)
            manager = queue.app.job_manager
            job = await manager.fetch_job([run.lanes[0]], await manager.register_worker())
            assert job is not None
            for _ in range(2):
                await manager.finish_job(job, Status.SUCCEEDED, delete_job=True)


async def test_a_store_that_is_away_is_waited_for_until_the_worker_is_to_stop() -> None:
    tried = 0

    def away() -> None:
        nonlocal tried
        tried += 1
        raise StoreError("away") from psycopg.OperationalError("no connection")

    with pytest.raises(StoreError, match="away"):
        await stored(away, lambda: tried == 2)
    with pytest.raises(StoreError, match="full"):
        await stored(_full, lambda: False)


def _full() -> None:
    raise StoreError("full") from psycopg.errors.DiskFull("no room")
