"""Trials run at once, each provider's within its own number; errors, limits and interruptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest

from tests.support.trials import answering, given, made
from toolspan_bridge.errors import ProviderError, StoreError, UnreachableError, UsageError
from toolspan_bridge.events import Answer
from toolspan_bridge.validation import (
    AskModel,
    Concurrency,
    RunLimits,
    Stop,
    Store,
    Suite,
    TrialFinished,
    TrialStarted,
    ValidationReport,
    validate,
)
from toolspan_bridge.validation.runs.journal import Resume
from toolspan_bridge.validation.runs.lanes import Served
from toolspan_bridge.validation.suites import Conversed, Scenario

pytestmark = pytest.mark.anyio

SUITE = Suite.model_validate(
    {
        "name": "ten",
        "scenarios": [{"name": f"q{n}", "query": f"q{n}", "expect": {"no_calls": True}} for n in range(10)],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "validation.sqlite3") as store:
        yield store


class Crowd:
    """Asks that wait until ``most`` run at once, and then end; ``peaks`` are the most of each provider."""

    def __init__(self, most: int) -> None:
        self.peaks: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._most = most
        self._full = anyio.Event()

    async def ask(self, model: str, scenario: Scenario) -> Conversed:
        provider = model.partition("/")[0]
        self._running[provider] += 1
        self.peaks[provider] = max(self.peaks[provider], self._running[provider])
        if self._running.total() >= self._most:
            self._full.set()
        await self._full.wait()
        self._running[provider] -= 1
        return Conversed((given("fine"),))


async def bounded(ask: AskModel, store: Store, *models: str, **options: Any) -> ValidationReport:
    with anyio.fail_after(60):
        return await validate(models, SUITE, ask, store, **options)


@pytest.mark.requirement("I14.2.6")
async def test_so_many_trials_of_each_provider_run_at_once(store: Store) -> None:
    crowd = Crowd(10)
    report = await bounded(crowd.ask, store, "a/x", "b/y", concurrency=5)
    assert crowd.peaks == {"a": 5, "b": 5}
    assert [len(model.trials) for model in report.models] == [10, 10]


@pytest.mark.requirement("I14.2.6")
async def test_models_that_share_an_address_and_key_share_its_number(store: Store) -> None:
    async def served(model: str) -> Served:
        return Served(model.partition("/")[0], "one account", "https://models.example.test")

    crowd = Crowd(3)
    await bounded(crowd.ask, store, "a/x", "b/y", concurrency=3, served_of=served)
    assert crowd.peaks.total() <= 6
    assert crowd.peaks["a"] == 3


@pytest.mark.requirement("I14.2.6")
@pytest.mark.parametrize(
    ("served", "usual"),
    [
        (Served("openai", "", "https://api.openai.com/v1"), 16),
        (Served("ollama", "", "http://127.0.0.1:11434"), 2),
        (Served("vllm", "", "http://10.0.0.7:8000/v1"), 2),
        (Served("own", "", "http://gpu.local/v1"), 2),
        (Served("scripted"), 1),
    ],
)
def test_a_model_nearby_has_fewer_trials_at_once_than_a_hosted_one(served: Served, usual: int) -> None:
    assert Concurrency().of(served) == usual
    assert Concurrency(None, {served.provider: 7}).of(served) == 7
    assert Concurrency(9, {served.provider: 7}).of(served) == 9


@pytest.mark.requirement("I14.2.6")
async def test_one_after_another_holds_for_all_providers_together(store: Store) -> None:
    order: list[tuple[str, int]] = []

    def on_event(event: TrialStarted | TrialFinished) -> None:
        order.append((type(event).__name__, event.number))

    await bounded(_fine(), store, "a/x", "b/y", concurrency=1, on_event=on_event)
    assert order == [(kind, n) for n in range(1, 21) for kind in ("TrialStarted", "TrialFinished")]


@pytest.mark.requirement("I14.2.1")
async def test_a_trial_among_many_is_in_the_store_before_it_is_told(store: Store) -> None:
    missing: list[int] = []

    def on_event(event: TrialStarted | TrialFinished) -> None:
        if isinstance(event, TrialFinished):
            with Store.open(store.path) as other:
                there = {trial.number for trial in other.trials()}
            missing.extend({event.number} - there)

    await bounded(_fine(), store, "a/x", "b/y", concurrency=8, on_event=on_event)
    assert missing == []
    assert sorted(trial.number for trial in store.trials()) == list(range(1, 21))


@pytest.mark.requirement("I14.2.6")
async def test_a_model_that_cannot_be_reached_ends_its_own_trials_only(store: Store) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        if model == "a/x":
            raise UnreachableError("nothing answers")
        return given("fine")

    report = await bounded(ask, store, "a/x", "b/y", concurrency=4)
    down, up = report.models
    assert (down.error is not None, down.missing, len(down.trials)) == (True, 10, 0)
    assert (up.error, up.missing, len(up.trials)) == (None, 0, 10)
    assert report.exit_code == UnreachableError.exit_code


@pytest.mark.requirement("I14.2.6")
async def test_a_store_that_fails_ends_a_run_of_many_at_once_with_its_reason(store: Store) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        if query == "q5":
            store.path.unlink()
        return given("fine")

    with pytest.raises(StoreError, match="removed or replaced while in use"):
        await bounded(ask, store, "a/x", concurrency=4)


@pytest.mark.requirement("I14.2.3")
async def test_the_death_of_a_tools_server_is_no_failure_of_the_model(store: Store) -> None:
    died = {"success": False, "error": "it ended", "error_code": "server_unavailable", "user_action": ""}

    @answering
    async def ask(model: str, query: str) -> Answer:
        return given("sorry", [made("get_weather", {}, died)])

    report = await bounded(ask, store, "a/x")
    assert {(trial.is_error, trial.success) for trial in store.trials()} == {(True, False)}
    assert store.trials()[0].error == "the server of the tool get_weather did not answer: it ended"
    assert (report.models[0].missing, report.exit_code) == (10, 1)


@pytest.mark.requirement("I14.2.3")
@pytest.mark.parametrize("stop", ["incomplete", "error"])
async def test_an_answer_that_the_provider_breaks_off_is_neither_a_failure_nor_a_success(
    store: Store, stop: Literal["incomplete", "error"]
) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        return replace(given("It is"), stop=stop, reason="The answer broke off.")

    await bounded(ask, store, "a/x")
    assert {(trial.is_error, trial.error) for trial in store.trials()} == {(True, "The answer broke off.")}


@pytest.mark.requirement("I14.2.3")
@pytest.mark.parametrize(("bad", "exit_code"), [(0, 0), (1, 1), (3, 1)])
async def test_errors_that_leave_too_few_outcomes_are_no_success(
    store: Store, bad: int, exit_code: int
) -> None:
    """A scenario without any outcome leaves the verdict open."""

    @answering
    async def ask(model: str, query: str) -> Answer:
        if int(query[1:]) < bad:
            raise ProviderError("503: overloaded")
        return given("fine")

    report = await bounded(ask, store, "a/x")
    assert (report.passed, report.exit_code) == (exit_code == 0, exit_code)
    assert report.models[0].counts.errors == bad


@pytest.mark.requirement("I14.2.7")
async def test_no_trial_is_begun_once_the_known_cost_is_reached(store: Store) -> None:
    async def ask(model: str, scenario: Scenario) -> Conversed:
        return Conversed((replace(given("fine"), usd=0.25),))

    report = await bounded(ask, store, "a/x", limits=RunLimits(usd=1.0))
    assert (len(store.trials()), report.ended, report.missing) == (4, "max_cost", 6)
    assert (report.passed, report.exit_code) == (False, 9)
    assert report.notices[-1] == "--max-cost $1.0000 was reached ($1.0000 spent): 6 trials were not run"


@pytest.mark.requirement("I14.2.7")
async def test_trials_that_run_count_with_what_they_will_cost(store: Store) -> None:
    async def ask(model: str, scenario: Scenario) -> Conversed:
        await anyio.lowlevel.checkpoint()
        return Conversed((replace(given("fine"), usd=0.25),))

    await bounded(ask, store, "a/x", limits=RunLimits(usd=1.0), concurrency=3)
    assert len(store.trials()) <= 6


@pytest.mark.requirement("I14.2.7")
async def test_what_runs_when_the_time_is_up_is_given_up_and_not_kept(store: Store) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        if query != "q0":
            await anyio.sleep_forever()
        return given("fine")

    report = await bounded(ask, store, "a/x", limits=RunLimits(seconds=0.5), concurrency=4)
    assert [trial.scenario for trial in store.trials()] == ["q0"]
    assert (report.ended, report.missing, report.exit_code) == ("max_time", 9, 9)


@pytest.mark.requirement("I14.2.8")
async def test_once_stopped_no_trial_is_begun_and_those_that_run_are_kept(store: Store) -> None:
    stop = Stop()

    @answering
    async def ask(model: str, query: str) -> Answer:
        stop.now()
        await anyio.lowlevel.checkpoint()
        return given("fine")

    report = await bounded(ask, store, "a/x", concurrency=3, stop=stop)
    assert 1 <= len(store.trials()) <= 3
    assert (report.ended, report.exit_code) == ("interrupted", 130)


@pytest.mark.requirement("I14.2.9")
async def test_a_run_goes_on_where_it_was_stopped(store: Store) -> None:
    stop = Stop()

    @answering
    async def ask(model: str, query: str) -> Answer:
        if query == "q3":
            stop.now()
        return given("fine")

    await bounded(ask, store, "a/x", stop=stop, resume="unfinished")
    report = await bounded(_fine(), store, "a/x", resume="unfinished")

    assert [trial.number for trial in store.trials()] == list(range(1, 11)), "only what was missing was run"
    assert (len(report.models[0].trials), report.missing, report.exit_code) == (10, 0, 0)
    assert "4 of 10 trials are done" in report.notices[-1]


@pytest.mark.requirement("I14.2.9")
async def test_what_ended_by_an_error_is_tried_again_and_counts_once(store: Store) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        if query in ("q2", "q7"):
            raise ProviderError("503: overloaded")
        return given("fine")

    await bounded(ask, store, "a/x", resume="unfinished")
    report = await bounded(_fine(), store, "a/x", resume="unfinished")

    assert [trial.number for trial in store.trials()][10:] == [3, 8]
    counts = report.models[0].counts
    assert (counts.n, counts.successes, counts.errors, report.exit_code) == (10, 10, 0, 0)


@pytest.mark.requirement("I14.2.9")
async def test_a_finished_run_is_followed_by_a_new_one(store: Store) -> None:
    for _ in range(2):
        report = await bounded(_fine(), store, "a/x", resume="unfinished")
        assert report.notices == ()
    assert len({trial.run for trial in store.trials()}) == 2


@pytest.mark.requirement("I14.2.9")
@pytest.mark.parametrize("how", ["a suite", "fresh"])
async def test_a_run_of_which_something_has_changed_is_not_gone_on_with_and_why_is_said(
    store: Store, how: str
) -> None:
    stop = Stop()
    stop.now()
    await bounded(_fine(), store, "a/x", stop=stop, resume="unfinished")
    changed = SUITE.model_copy(update={"scenarios": SUITE.scenarios[:9]}) if how == "a suite" else SUITE
    resume: Resume = "fresh" if how == "fresh" else "unfinished"

    report = await validate(["a/x"], changed, _fine(), store, resume=resume)

    why = {"a suite": "the suite ten has changed", "fresh": "--fresh"}[how]
    assert f"is not gone on with ({why}): this is a new run" in report.notices[-1]
    again = await validate(["a/x"], changed, _fine(), store, resume="unfinished")
    assert again.notices == (), "the old one is closed"


@pytest.mark.requirement("I14.2.9")
async def test_a_run_that_is_at_work_is_not_gone_on_with_by_another(store: Store) -> None:
    notices: list[tuple[str, ...]] = []

    @answering
    async def ask(model: str, query: str) -> Answer:
        if query == "q4" and not notices:
            notices.append(())
            with Store.open(store.path) as other:
                report = await validate(["a/x"], SUITE, _fine(), other, resume="unfinished")
            notices.append(report.notices)
        return given("fine")

    await bounded(ask, store, "a/x", resume="unfinished")
    assert "is at work in another process: this is a new run" in notices[1][-1]
    assert len(store.trials()) == 20


@pytest.mark.requirement("I14.2.4")
async def test_several_suites_are_run_and_reported_each(store: Store) -> None:
    other = SUITE.model_copy(update={"name": "two", "scenarios": SUITE.scenarios[:2]})
    report = await validate(["a/x", "b/y"], [SUITE, other], _fine(), store, trials=2)
    rows = [(model.model_id, model.suite, model.counts.n, model.planned) for model in report.models]
    assert rows == [
        ("a/x", "ten", 20, 20),
        ("a/x", "two", 4, 4),
        ("b/y", "ten", 20, 20),
        ("b/y", "two", 4, 4),
    ]


@pytest.mark.requirement("I14.2.4")
@pytest.mark.parametrize(
    ("suites", "options", "told"),
    [
        ([], {}, "there is no suite to run"),
        ([SUITE, SUITE], {}, "several suites are called 'ten'"),
        ([SUITE], {"concurrency": 0}, "the trials at once must be 1 … 1,000, not 0"),
    ],
)
async def test_what_cannot_be_planned_is_refused(
    store: Store, suites: list[Suite], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        await validate(["a/x"], suites, _fine(), store, **options)
    assert store.trials() == []


def _fine() -> AskModel:
    @answering
    async def ask(model: str, query: str) -> Answer:
        return given("fine")

    return ask
