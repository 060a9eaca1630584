"""Runs in the store: of each number of a plan one trial is kept, and errors of providers count nowhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.stores import BOTH, place_for_a_store
from tests.support.trials import a_trial
from toolspan_bridge.validation import Badge, Counts, Run, Store, Totals, Trial, badge_of, build_records

NOW = "2026-11-21T10:00:00.123Z"


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    with place_for_a_store(request.param, tmp_path) as place:
        yield place


@pytest.fixture
def store(place: Path | str) -> Iterator[Store]:
    with Store.open(place) as store:
        yield store


def _numbered(number: int, *, is_error: bool = False, success: bool = True, run: str = "r1") -> Trial:
    error = "429: too many requests" if is_error else ""
    trial = a_trial(success=success and not is_error, error=error)
    return replace(trial, is_error=is_error, run=run, number=number)


@pytest.mark.requirement("I14.2.60")
def test_of_each_number_of_a_run_one_trial_is_kept_and_the_earlier_one_is_told(store: Store) -> None:
    first = store.append(_numbered(1))
    assert store.append(_numbered(1, success=False)) == first
    assert store.append(_numbered(1, run="r2")).run == "r2"
    assert store.append(a_trial()) == store.append(a_trial()), "a trial of no run is always kept"
    assert [trial.run for trial in store.trials()] == ["r1", "r2", "", ""]


@pytest.mark.requirement("I14.2.60")
def test_errors_of_a_number_are_all_kept_and_leave_it_to_be_done(store: Store) -> None:
    for number, is_error in ((1, True), (1, True), (1, False), (2, True), (1, True)):
        assert store.append(_numbered(number, is_error=is_error)).is_error is is_error
    assert store.done("r1") == {1}
    assert store.done("r2") == frozenset()
    assert len(store.trials()) == 5


@pytest.mark.requirement("I14.2.60")
def test_threads_that_write_the_same_numbers_double_none(store: Store) -> None:
    told: list[Trial] = []

    def write(success: bool) -> None:
        told.extend(store.append(_numbered(number, success=success)) for number in range(1, 26))

    threads = [threading.Thread(target=write, args=(success,)) for success in (True, False, True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    kept = store.trials()
    assert sorted(trial.number for trial in kept) == list(range(1, 26))
    assert len(told) == 75 and all(trial in kept for trial in told)


@pytest.mark.requirement("I14.2.60")
def test_errors_of_the_provider_are_in_no_rate_and_no_badge(store: Store) -> None:
    for number in range(1, 13):
        store.append(_numbered(number, is_error=number > 10))
    (record,) = store.records()
    assert record.counts == Counts(10, 10, errors=2)
    assert (record.counts.rate, record.counts.as_dict()["errors"]) == (1.0, 2)
    assert store.totals("offline/keyword") == Totals(10, 10)
    assert badge_of(replace(record, changed=())) == Badge("provisional", record.counts)
    (exported,) = build_records(store.trials())
    assert (exported["test_count"], exported["success_count"], exported["error_count"]) == (10, 10, 2)
    assert [entry["error"] for entry in exported["errors"]] == ["429: too many requests"] * 2
    assert len(exported["test_history"]) == 10


@pytest.mark.requirement("I14.2.60")
def test_a_model_of_which_every_trial_was_an_error_is_untested(store: Store) -> None:
    store.append(_numbered(1, is_error=True))
    (exported,) = build_records(store.trials())
    assert (exported["tested"], exported["last_tested"], exported["error_count"]) == (False, None, 1)
    assert exported["badge"]["errors"] == 1
    (record,) = store.records()
    assert badge_of(replace(record, changed=())).status == "untested"


@pytest.mark.requirement("I14.2.61")
def test_the_unfinished_run_of_a_plan_is_found_until_it_is_finished(place: Path | str) -> None:
    old = Run("r1", "plan", "2026-11-20T10:00:00.000Z", contents={"models": ["a/x"], "trials": 3})
    new = Run("r2", "plan", "2026-11-21T10:00:00.000Z")
    with Store.open(place) as store:
        for run in (new, old, Run("r3", "another", "2026-11-22T10:00:00.000Z")):
            store.begin(run)
        store.begin(replace(old, plan="changed"))
    with Store.open(place) as store:
        assert store.unfinished("plan") == new
        store.finish("r2")
        assert store.unfinished("plan") == old
        store.finish("r1")
        assert store.unfinished("plan") is None
        finished = store.run("r1")
        assert finished is not None and finished.finished.endswith("Z")
        assert replace(finished, finished="") == old
        store.finish("r1")
        assert store.run("r1") == finished, "it finished once"
        assert store.run("nobody's") is None


@pytest.mark.requirement("I14.2.61")
def test_what_a_run_goes_on_with_holds_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    with Store.open(path, redact=lambda text: text.replace("hunter2", "***")) as store:
        store.begin(Run("r1", "plan", NOW, contents={"key": "hunter2"}))
        begun = store.run("r1")
    assert begun is not None and begun.contents == {"key": "***"}
    assert b"hunter2" not in path.read_bytes()
