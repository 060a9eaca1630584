"""Workers make the trials of a run that is on a queue, each once in the record, over PostgreSQL itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from random import Random

import anyio
import pytest
from typing_extensions import override

from tests.support.obedient import Bill, Clock, Obedient
from tests.support.queues import TOOLS, Models, database, parcel_for, plan_of
from tests.support.trials import a_trial
from tests.support.waiting import BOUND_S
from toolspan_bridge.errors import AuthError, StoreError
from toolspan_bridge.loop.limits import CostLimitError
from toolspan_bridge.messages import Reply, Request, User
from toolspan_bridge.providers.prices import Pricing
from toolspan_bridge.validation import Concurrency, Conversed, RunLimits, Scenario, Stop, Store
from toolspan_bridge.validation.badges import RULE
from toolspan_bridge.validation.queue.connection import Queue, opened_queue
from toolspan_bridge.validation.queue.counts import WorkerCounts, counts_of_run
from toolspan_bridge.validation.queue.following import follow
from toolspan_bridge.validation.queue.parcel import Parcel
from toolspan_bridge.validation.queue.putting import Put, put
from toolspan_bridge.validation.queue.queued_run import QueuedRun
from toolspan_bridge.validation.queue.spending import SharedBudget
from toolspan_bridge.validation.queue.state import RunState, state_of_run
from toolspan_bridge.validation.queue.worker import Worker, WorkerSettings
from toolspan_bridge.validation.runs.plan import Plan

pytestmark = [pytest.mark.long, pytest.mark.anyio]

PLAN = plan_of(5, 4)


@pytest.fixture
def url() -> Iterator[str]:
    with database() as url:
        yield url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as store:
        yield store


async def put_on(
    queue: Queue, store: Store, plan: Plan = PLAN, parcel: Parcel | None = None, usd: float | None = None
) -> Put:
    return await put(queue, store, plan, parcel or parcel_for(plan), RunLimits(usd), "unfinished")


@asynccontextmanager
async def working(
    queue: Queue,
    store: Store,
    models: Models,
    tools: str = TOOLS,
    say: Callable[[str], None] = lambda text: None,
) -> AsyncGenerator[Stop]:
    async def asker(reasoning: object) -> Models:
        return models

    settings = WorkerSettings(tools, "host:1", Concurrency(4), 2.0)
    worker, stop = Worker(queue, store, asker, settings, say), Stop()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker.run, stop)
        yield stop
        stop.now()
        worker.wake()


async def followed(queue: Queue, run: Put) -> RunState:
    with anyio.fail_after(120):
        return await follow(queue, run, Stop(), lambda state, counted: None)


@pytest.mark.requirement("I14.2.80")
async def test_two_workers_make_each_trial_once_and_the_report_has_all(url: str, store: Store) -> None:
    first, second = Models(), Models()
    async with opened_queue(url) as queue, opened_queue(url) as other:
        run = await put_on(queue, store)
        async with working(queue, store, first), working(other, store, second):
            state = await followed(queue, run)
        report = await QueuedRun(PLAN, run, 0.8, RULE, RunLimits()).report(store, state, interrupted=False)
    assert (run.put, len(first.asked) + len(second.asked)) == (20, 20)
    assert store.done(run.id) == frozenset(range(1, 21))
    assert (report.passed, report.missing, report.models[0].counts.n) == (True, 0, 20)
    assert store.unfinished(PLAN.digest) is None


@pytest.mark.requirement("I14.2.81")
async def test_what_is_on_the_queue_is_not_put_twice_and_what_is_done_not_again(
    url: str, store: Store
) -> None:
    async with opened_queue(url) as queue:
        found: list[Put] = []

        async def put_one() -> None:
            found.append(await put_on(queue, store))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(put_one)
            tasks.start_soon(put_one)
        assert {each.id for each in found} == {found[0].id}
        assert sorted(each.put for each in found) == [0, 20]
        async with working(queue, store, Models()):
            await followed(queue, found[0])
        again = await put_on(queue, store)
        assert (again.id, again.put, again.done) == (found[0].id, 0, 20)


@pytest.mark.requirement("I14.2.82")
async def test_a_worker_of_other_tools_takes_no_part_and_both_sides_are_told(url: str, store: Store) -> None:
    models, said = Models(), list[str]()
    async with opened_queue(url) as queue:
        run = await put_on(queue, store)
        async with working(queue, store, models, "other", said.append):
            state = await followed(queue, run)
        report = await QueuedRun(PLAN, run, 0.8, RULE, RunLimits()).report(store, state, interrupted=False)
    assert models.asked == []
    assert "the tools of this worker are not those of the run" in " ".join(said)
    assert report.models[0].error is not None
    assert "the tools of this worker" in report.models[0].error.message
    assert report.exit_code == 2


@pytest.mark.requirement("I14.2.82")
async def test_another_version_of_a_model_than_the_runs_is_refused_in_words(url: str, store: Store) -> None:
    mark = {**(await Models().fingerprint("near/model")).as_dict(), "model_version": "sha256:old"}
    parcel = parcel_for(PLAN).model_copy(update={"fingerprints": {"near/model": mark}})
    async with opened_queue(url) as queue:
        run = await put_on(queue, store, parcel=parcel)
        async with working(queue, store, Models()):
            state = await followed(queue, run)
    assert "model_version is not known, in the run 'sha256:old'" in state.refusals[0].reason


@pytest.mark.requirement("I14.2.82")
async def test_a_missing_key_at_one_worker_leaves_the_trials_to_another(url: str, store: Store) -> None:
    without, having = Models(raises=[AuthError("set NEAR_API_KEY")] * 99), Models()
    async with opened_queue(url) as queue, opened_queue(url) as other:
        run = await put_on(queue, store)
        async with working(queue, store, without):
            state = await followed(queue, run)
            assert state.is_stuck
            assert state.refusals[0].code == "auth"
            async with working(other, store, having):
                await followed(queue, run)
    assert len(having.asked) == 20
    assert len(store.trials()) == 20


@pytest.mark.requirement("I14.2.83")
async def test_a_stopped_worker_gives_back_what_it_has_not_made(url: str, store: Store) -> None:
    plan, slow = plan_of(10, 10), _Held()
    async with opened_queue(url) as queue, opened_queue(url) as other:
        run = await put_on(queue, store, plan)
        async with working(queue, store, slow) as stop:
            await slow.began.wait()
            stop.now()
            slow.go.set()
        made = len(store.done(run.id))
        jobs = await queue.rows("SELECT status::text FROM procrastinate_jobs")
        assert 0 < made < 100
        assert {job["status"] for job in jobs} == {"todo"}
        async with working(other, store, Models()):
            await followed(queue, run)
    assert [trial.number for trial in sorted(store.trials(), key=lambda each: each.number)] == list(
        range(1, 101)
    )


@pytest.mark.requirement("I14.2.83")
async def test_the_job_of_a_worker_that_died_is_made_by_another(url: str, store: Store) -> None:
    async with opened_queue(url) as queue:
        run = await put_on(queue, store)
        manager = queue.app.job_manager
        dead = await manager.register_worker()
        for _ in range(3):
            assert await manager.fetch_job([run.lanes[0]], dead) is not None
        await queue.rows("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")
        store.append(replace(a_trial(model_id="near/model"), run=run.id, number=1))
        models = Models()
        async with working(queue, store, models):
            await followed(queue, run)
    assert store.done(run.id) == frozenset(range(1, 21))
    assert len(store.trials()) == 20


@pytest.mark.requirement("I14.2.86")
async def test_the_cost_of_all_workers_ends_the_run(url: str, store: Store) -> None:
    plan = plan_of(10, 20)
    async with opened_queue(url) as queue, opened_queue(url) as other:
        run = await put_on(queue, store, plan, usd=5.0)
        async with working(queue, store, Models()), working(other, store, Models()):
            state = await followed(queue, run)
        report = await QueuedRun(plan, run, 0.8, RULE, RunLimits(5.0)).report(store, state, interrupted=False)
        left = await queue.rows("SELECT count(*) AS jobs FROM procrastinate_jobs WHERE status = 'todo'")
    assert 5.0 <= state.usd <= 5.0 + 8 * 0.25  # these models are paid by nobody here: they say what they cost
    assert (report.ended, report.exit_code, left[0]["jobs"]) == ("max_cost", 9, 0)


@pytest.mark.requirement("I14.6.30")
async def test_what_each_model_of_a_run_costs_counts_together(url: str, store: Store) -> None:
    plan = plan_of(5, 4, ("near/first", "near/second"))
    async with opened_queue(url) as queue:
        run = await put_on(queue, store, plan, usd=7.0)
        async with working(queue, store, Models()):
            state = await followed(queue, run)
    assert state.ended == "max_cost"
    assert 7.0 <= state.usd <= 7.0 + 4 * 0.25


@pytest.mark.requirement("I14.6.30")
async def test_costs_are_written_in_their_order_however_many_end_at_once(url: str, store: Store) -> None:
    async with opened_queue(url) as queue:
        run = await put_on(queue, store, usd=1_000.0)
        budget = SharedBudget(queue, run.id, 1_000.0, 30.0)
        for _ in range(40):
            await budget.begin()
        async with anyio.create_task_group() as tasks:
            for _ in range(40):
                tasks.start_soon(budget.finished, 0.25)
        assert (await state_of_run(queue, run.id, run.lanes)).usd == 10.0


@pytest.mark.requirement("I24.6.1")
async def test_requests_of_several_workers_together_never_cost_a_cent_over_the_limit(
    url: str, store: Store
) -> None:
    dice, bill = Random(24), Bill(Clock())
    pricing = Pricing("openai", "gpt-5-mini")

    async def asks(budget: SharedBudget) -> None:
        with suppress(CostLimitError):
            for _ in range(9):
                obedient = Obedient(dice, bill, pricing, lambda: None, ("answers", "counts nothing"))
                await budget.charged(obedient, pricing, "m").answer(Request("m", (User("hi"),)))

    async with opened_queue(url) as queue, opened_queue(url) as other:
        run = await put_on(queue, store, usd=0.05)
        budgets = [SharedBudget(each, run.id, 0.05, 30.0) for each in (queue, other, queue)]
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for budget in budgets * 4:
                    tasks.start_soon(asks, budget)
        assert 0.03 < bill.total <= 0.05 + 1e-9
        assert await budgets[0].begin() == "max_cost"
        assert (await state_of_run(queue, run.id, run.lanes)).usd == pytest.approx(
            sum(each.spent for each in budgets)
        )


@pytest.mark.requirement("I24.6.1")
async def test_a_worker_holds_nothing_while_another_one_is_deciding(url: str, store: Store) -> None:
    """Both would find the whole budget free, and hold it. The other one has locked the run's row."""
    pricing = Pricing("openai", "gpt-5-mini")
    waiting = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted"
    sent: list[Request] = []

    class Sending(Obedient):
        @override
        async def answer(self, request: Request) -> Reply:
            sent.append(request)
            return await super().answer(request)

    async with opened_queue(url) as queue, opened_queue(url) as other:
        run = await put_on(queue, store, usd=0.05)
        budget = SharedBudget(queue, run.id, 0.05, 30.0)
        here = Sending(Random(1), Bill(Clock()), pricing, lambda: None, ("answers",))
        asking = budget.charged(here, pricing, "m")
        ended = anyio.Event()

        async def ask() -> None:
            with suppress(CostLimitError):
                await asking.answer(Request("m", (User("hi"),)))
            ended.set()

        async def is_waiting() -> bool:
            return bool((await other.rows(waiting))[0]["n"]) or bool(sent) or ended.is_set()

        async with anyio.create_task_group() as tasks:
            async with other.transaction() as deciding:
                own = {"run": run.id}
                lock = "SELECT id FROM toolspan_queue_runs WHERE id = %(run)s FOR UPDATE"
                await deciding.execute(lock, own)
                tasks.start_soon(ask)
                with anyio.fail_after(BOUND_S):
                    while not await is_waiting():  # noqa: ASYNC110 - what waits is PostgreSQL
                        await anyio.sleep(0.005)
                assert not sent
                await deciding.execute(
                    "INSERT INTO toolspan_queue_spending (run, worker, usd, held) "
                    "VALUES (%(run)s, 'other', 0.05, 0)",
                    own,
                )
            with anyio.fail_after(BOUND_S):
                await ended.wait()
        assert not sent


@pytest.mark.requirement("I14.6.31")
async def test_counts_of_a_run_that_comes_back_stand_beside_the_earlier_ones(url: str, store: Store) -> None:
    async with opened_queue(url) as queue:
        run = await put_on(queue, store)
        counts = WorkerCounts(queue, "worker")
        for number in (1, 2):
            counts.add(replace(a_trial(model_id="near/model"), suite="sums", run=run.id, number=number))
            await counts.save()
            counts.forget(run.id)
        assert (await counts_of_run(queue, run.id))["near/model", "sums"].successes == 2


@pytest.mark.requirement("I14.6.32")
async def test_the_trials_of_a_job_are_made_at_once_as_far_as_there_are_slots(url: str, store: Store) -> None:
    plan, held = plan_of(10, 10), _Held(together=4)
    async with opened_queue(url) as queue:
        run = await put_on(queue, store, plan)
        async with working(queue, store, held):
            with anyio.fail_after(60):
                await held.began.wait()
            jobs = await queue.rows("SELECT count(*) AS jobs FROM procrastinate_jobs WHERE status = 'doing'")
            held.go.set()
            await followed(queue, run)
    assert held.most == 4
    assert jobs[0]["jobs"] <= 3
    assert len(store.done(run.id)) == 100


@pytest.mark.requirement("I14.2.87")
async def test_the_tables_are_made_once_by_many_and_those_of_another_version_are_refused(url: str) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(_open, url)
    async with opened_queue(url) as queue:
        await queue.rows("DROP FUNCTION procrastinate_fetch_job_v2")
        with pytest.raises(StoreError, match="procrastinate_fetch_job_v2 is missing"):
            await _open(url)
        await queue.rows("CREATE FUNCTION procrastinate_fetch_job_v2() RETURNS void LANGUAGE sql AS ''")
        await queue.rows("UPDATE toolspan_queue_version SET version = 99")
        with pytest.raises(StoreError, match=r"version \[99\]"):
            await _open(url)


async def _open(url: str) -> None:
    async with opened_queue(url):
        pass


class _Held(Models):
    """Models whose answers wait until they may go on; ``began`` once ``together`` of them do."""

    def __init__(self, together: int = 1) -> None:
        super().__init__()
        self.began, self.go = anyio.Event(), anyio.Event()
        self.most = self._now = 0
        self._together = together

    @override
    async def ask(self, model: str, scenario: Scenario) -> Conversed:
        self._now += 1
        self.most = max(self.most, self._now)
        if self._now >= self._together:
            self.began.set()
        await self.go.wait()
        self._now -= 1
        return await super().ask(model, scenario)
