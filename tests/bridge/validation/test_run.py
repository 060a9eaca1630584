"""A run puts every scenario to every model and keeps each trial as soon as it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.support.trials import answering, given, made
from toolspan_bridge.errors import (
    AuthError,
    BridgeError,
    ProviderError,
    StoreError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from toolspan_bridge.events import Answer
from toolspan_bridge.formats.prompt.rescue import UNREAD
from toolspan_bridge.validation import (
    AskModel,
    Store,
    Suite,
    Trial,
    TrialFinished,
    TrialStarted,
    validate,
)

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.7.1")]

SUITE = Suite.model_validate(
    {
        "name": "two",
        "scenarios": [
            {"name": "weather", "query": "Weather?", "expect": {"calls": [{"tool": "get_weather"}]}},
            {"name": "thanks", "query": "Thanks!", "expect": {"no_calls": True}},
        ],
    }
)
CALLED = given("22 °C", [made("get_weather", {"location": "Paris"})])
RIGHT = {"Weather?": CALLED, "Thanks!": given("Welcome!")}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    def redact(text: str) -> str:
        return text.replace("hunter2", "***")

    with Store.open(tmp_path / "validation.sqlite3", redact=redact) as store:
        yield store


@answering
async def _right(model: str, query: str) -> Answer:
    return RIGHT[query]


def _once(*failures: Exception) -> AskModel:
    """Asks that fail, one after the other; then every answer is right."""
    left = list(failures)

    @answering
    async def ask(model: str, query: str) -> Answer:
        if left:
            raise left.pop(0)
        return RIGHT[query]

    return ask


def _wrong_at_first(times: int) -> AskModel:
    """So many answers with a call that nobody wants; then every answer is right."""
    left = [given("?", [made("other")])] * times

    @answering
    async def ask(model: str, query: str) -> Answer:
        return left.pop() if left else RIGHT[query]

    return ask


async def test_every_scenario_is_put_to_every_model_as_often_as_asked(store: Store) -> None:
    report = await validate(["a/x", "b/y"], SUITE, _right, store, trials=3)

    asked = [(trial.model_id, trial.scenario, trial.suite) for trial in store.trials()]
    per_model = [["weather", "thanks"] * 3] * 2
    expected = [(m, s, "two") for m, names in zip(["a/x", "b/y"], per_model, strict=True) for s in names]
    assert asked == expected
    assert [(model.model_id, model.rate) for model in report.models] == [("a/x", 1.0), ("b/y", 1.0)]
    assert report.passed


async def test_a_model_that_is_named_twice_is_tried_once(store: Store) -> None:
    await validate(["a/x", "a/x"], SUITE, _right, store)
    assert len(store.trials()) == 2


async def test_a_success_keeps_what_was_asked_and_answered(store: Store) -> None:
    await validate(["a/x"], SUITE, _right, store)

    details = dict(store.trials()[0].details)
    assert details.pop("duration_ms") >= 0
    measured = {"cost": {"usd": None}, "rescued": 0}
    assert details == {
        "scenario": "weather",
        "query": "Weather?",
        "expected": {"calls": ["get_weather"]},
        **measured,
        **RIGHT["Weather?"].as_dict(),
    }


async def test_a_failure_says_why_and_keeps_the_answer(store: Store) -> None:
    @answering
    async def wrong(model: str, query: str) -> Answer:
        return given("Sunny, I guess.")

    report = await validate(["a/x"], SUITE, wrong, store)

    weather, thanks = store.trials()
    assert (weather.success, weather.error) == (False, "get_weather was not called (no tool was)")
    assert weather.details["content"] == "Sunny, I guess."
    assert thanks.success
    assert report.models[0].rate == 0.5


@pytest.mark.requirement("I14.2.3")
async def test_a_provider_error_is_no_failure_of_the_model_and_the_run_goes_on(store: Store) -> None:
    report = await validate(["a/x"], SUITE, _once(ProviderError("503: overloaded, key hunter2")), store)

    first, second = report.models[0].trials
    assert (first.is_error, first.success, first.error) == (True, False, "503: overloaded, key ***")
    assert (second.is_error, second.success) == (False, True)
    assert (report.models[0].rate, report.models[0].missing) == (1.0, 1)
    assert report.models[0].error is None


async def test_an_error_without_words_is_still_an_error(store: Store) -> None:
    report = await validate(["a/x"], SUITE, _once(ProviderError("")), store)
    first, second = report.models[0].trials
    assert (first.is_error, first.error) == (True, "the provider gave an error without words")
    assert second.success


async def test_a_trial_over_its_time_is_a_failure_and_the_run_goes_on(store: Store) -> None:
    ended = anyio.Event()

    @answering
    async def slow(model: str, query: str) -> Answer:
        if query == "Weather?":
            try:
                await anyio.sleep_forever()
            finally:
                ended.set()
        return RIGHT[query]

    report = await validate(["a/x"], SUITE, slow, store, timeout=0.3)

    first, second = report.models[0].trials
    assert (first.success, first.error) == (False, "no answer within 0.3 s")
    assert second.success
    assert ended.is_set()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AuthError("no key: set OPENAI_API_KEY"), 3),
        (UnreachableError("nothing answers at http://127.0.0.1:1"), 4),
        (UnknownModelError("a has no model x"), 2),
    ],
)
async def test_what_would_fail_every_trial_ends_that_models_run_unrecorded(
    store: Store, error: BridgeError, code: int
) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        if model == "a/x" and query == "Thanks!":
            raise error
        return RIGHT[query]

    report = await validate(["a/x", "b/y"], SUITE, ask, store, trials=2)

    first, second = report.models
    assert (first.error, len(first.trials)) == (error, 1)
    assert (second.error, len(second.trials)) == (None, 4)
    assert len(store.trials("a/x")) == 1
    assert (report.passed, report.exit_code) == (False, code)


async def test_a_trial_is_in_the_store_before_it_is_told(tmp_path: Path, store: Store) -> None:
    told: list[tuple[Trial, list[Trial]]] = []

    def on_event(event: object) -> None:
        if isinstance(event, TrialFinished):
            with Store.open(store.path) as other:
                told.append((event.trial, other.trials()))

    await validate(["a/x"], SUITE, _right, store, trials=2, on_event=on_event)

    assert len(told) == 4
    for number, (trial, there) in enumerate(told, start=1):
        assert there[-1] == trial
        assert len(there) == number


async def test_events_count_the_trials_of_the_whole_run(store: Store) -> None:
    numbers: list[tuple[type[object], int, int]] = []

    def on_event(event: TrialStarted | TrialFinished) -> None:
        numbers.append((type(event), event.number, event.total))

    await validate(["a/x", "b/y"], SUITE, _right, store, on_event=on_event)

    assert numbers == [(kind, number, 4) for number in range(1, 5) for kind in (TrialStarted, TrialFinished)]


async def test_a_store_that_fails_ends_the_run_with_its_reason(store: Store) -> None:
    @answering
    async def lose_the_store(model: str, query: str) -> Answer:
        if query == "Thanks!":
            store.path.unlink()
        return RIGHT[query]

    with pytest.raises(StoreError, match="removed or replaced while in use"):
        await validate(["a/x"], SUITE, lose_the_store, store)


async def test_an_interrupted_run_keeps_the_trials_that_ended(store: Store) -> None:
    with anyio.CancelScope() as scope:

        def on_event(event: TrialStarted | TrialFinished) -> None:
            if isinstance(event, TrialStarted) and event.number == 2:
                scope.cancel()

        await validate(["a/x"], SUITE, _right, store, trials=5, on_event=on_event)

    assert scope.cancelled_caught
    assert len(store.trials()) in (1, 2)


async def test_a_bug_in_asking_is_not_taken_for_the_models_failure(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        await validate(["a/x"], SUITE, _once(ZeroDivisionError()), store)
    assert store.trials() == []


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"trials": 0}, "the number of trials must be 1 … 1,000, not 0"),
        ({"trials": 1_001}, "not 1001"),
        ({"timeout": 0}, "the time-out must be more than 0 s, not 0"),
        ({"threshold": 80}, "the threshold must be 0 … 1, not 80"),
        ({"threshold": float("nan")}, "the threshold must be 0 … 1, not nan"),
    ],
)
async def test_a_number_out_of_range_is_refused(store: Store, wrong: dict[str, float], told: str) -> None:
    with pytest.raises(UsageError) as refusal:
        await validate(["a/x"], SUITE, _right, store, **wrong)  # type: ignore[arg-type] # a table of keywords
    assert told in refusal.value.message


@pytest.mark.requirement("I2.7.3")
@pytest.mark.parametrize(
    ("threshold", "passed", "exit_code"), [(0.8, False, 6), (0.5, True, 0), (0.51, False, 6), (0, True, 0)]
)
async def test_a_model_below_the_threshold_fails_the_run(
    store: Store, threshold: float, passed: bool, exit_code: int
) -> None:
    report = await validate(["a/x"], SUITE, _wrong_at_first(1), store, threshold=threshold)
    assert (report.passed, report.exit_code) == (passed, exit_code)


@pytest.mark.requirement("I2.7.3")
async def test_one_model_below_the_threshold_is_enough(store: Store) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        return RIGHT[query] if model == "good/x" else given("?", [made("other")])

    report = await validate(["good/x", "bad/y"], SUITE, ask, store)

    assert [report.reached(model) for model in report.models] == [True, False]
    assert report.exit_code == 6


@pytest.mark.requirement("I2.7.3")
async def test_this_run_decides_the_exit_code_and_all_runs_the_badge(store: Store) -> None:
    await validate(["a/x"], SUITE, _wrong_at_first(10), store, trials=5)
    report = await validate(["a/x"], SUITE, _right, store)

    (model,) = report.models
    assert (report.exit_code, report.badge(model).status) == (0, "failed")
    assert (model.totals.test_count, model.totals.success_count) == (12, 2)


@pytest.mark.requirement("I25.4.4")
async def test_calls_that_were_left_as_text_are_a_reason_of_their_own(store: Store) -> None:
    left = replace(given("<tool_call>…</tool_call>"), notes=(UNREAD,))

    @answering
    async def ask(model: str, query: str) -> Answer:
        return left if query == "Weather?" else RIGHT[query]

    await validate(["a/x"], SUITE, ask, store)
    assert store.trials()[0].error.startswith("the model's calls were left as text")
    assert "get_weather was not called" in store.trials()[0].error


@pytest.mark.requirement("I25.4.8")
async def test_a_call_that_nobody_could_read_is_the_model_s_failure(store: Store) -> None:
    malformed = replace(given(""), stop="malformed", reason="The model's turn has calls that cannot be read.")

    @answering
    async def ask(model: str, query: str) -> Answer:
        return malformed if query == "Weather?" else RIGHT[query]

    await validate(["a/x"], SUITE, ask, store)
    assert (store.trials()[0].success, store.trials()[0].is_error) == (False, False)
