"""What the store keeps of a trial: everything that any reader takes, nothing secret, within a size."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.stores import BOTH, place_for_a_store
from tests.support.trials import a_trial
from toolspan_bridge.errors import StoreError
from toolspan_bridge.validation import Store, Totals, Trial
from toolspan_bridge.validation.storage.trial import timestamp

pytestmark = pytest.mark.requirement("I2.7.2", "I14.2.62")


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    with place_for_a_store(request.param, tmp_path) as place:
        yield place


@pytest.fixture
def store(place: Path | str) -> Iterator[Store]:
    def redact(text: str) -> str:
        return text.replace("hunter2", "***")

    with Store.open(place, redact=redact) as store:
        yield store


def _kept(store: Store, details: Any) -> Any:
    written = store.append(a_trial(details={"value": details}))
    assert store.trials()[-1] == written
    return written.details["value"]


def test_trials_come_back_as_they_were_written_after_reopening(place: Path | str) -> None:
    trials = [a_trial("one"), a_trial("two", success=False), a_trial("three", model_id="openai/gpt-4o")]
    with Store.open(place) as store:
        assert [store.append(trial) for trial in trials] == trials
    with Store.open(place) as store:
        assert store.trials() == trials
        assert store.trials("openai/gpt-4o") == trials[2:]
        assert store.totals("offline/keyword") == Totals(2, 1)
        assert store.totals("nobody/knows") == Totals(0, 0)
        assert store.notices == ()


def test_secrets_are_taken_out_of_every_text(store: Store) -> None:
    names = ("m-hunter2", "s-hunter2", "n-hunter2")
    trial = Trial(*names, timestamp(), False, "401: key hunter2 refused", {"hunter2": ["hunter2"]})
    written = store.append(trial)
    assert written.error == "401: key *** refused"
    assert written.details == {"***": ["***"]}
    assert store.totals("m-hunter2") == Totals(1, 0)
    assert "hunter2" not in str(store.trials())


def test_no_byte_of_the_file_holds_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    with Store.open(path, redact=lambda text: text.replace("hunter2", "***")) as store:
        store.append(a_trial("hunter2", details={"hunter2": ["hunter2"]}))
    assert b"hunter2" not in path.read_bytes()


def test_a_secret_in_a_text_that_is_cut_is_taken_out_first(store: Store) -> None:
    assert "hunter" not in _kept(store, "x" * (16_384 - 3) + "hunter2" + "x" * 300_000)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
        ({"\ud800": 1}, {"\ufffd": 1}),
        (float("nan"), "nan"),
        ([float("inf"), -float("inf"), 1.5], ["inf", "-inf", 1.5]),
        pytest.param(10**3999, 10**3999, id="4,000 digits"),
        pytest.param(10**5000, "[left out: an integer of 16610 bits]", id="5,001 digits"),
        ((1, 2), [1, 2]),
        ({3: "three"}, {"3": "three"}),
        (b"raw", "[left out: a value of type bytes]"),
        (None, None),
        ("nul \0 and \u202e", "nul \0 and \u202e"),
    ],
)
def test_a_value_that_not_every_reader_takes_is_replaced(store: Store, value: Any, kept: Any) -> None:
    assert _kept(store, value) == kept


def test_a_value_nested_too_deep_is_left_out_and_said_so(store: Store) -> None:
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]
    assert "[left out: nested deeper than 64]" in json.dumps(_kept(store, deep))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("x" * 10_000_000, id="one long text"),
        pytest.param(["x" * 1_000] * 1_000, id="many texts"),
        pytest.param({f"k{n}": "x" * 100 for n in range(10_000)}, id="many keys"),
        pytest.param("\U0001f600" * 100_000, id="four bytes a character"),
    ],
)
def test_a_record_over_its_limit_is_cut_and_says_so(store: Store, value: Any) -> None:
    written = store.append(a_trial(details={"query": "kept", "value": value}))
    text = json.dumps(written.details, ensure_ascii=False, separators=(",", ":"))
    assert len(text.encode()) <= 262_144
    assert "over the limit of 262,144: long texts and lists are cut" in written.details["cut"]
    assert written.details["query"] == "kept"
    assert re.search(r"\[cut: [\d,]+ (characters|items|keys) in all\]", text)


def test_a_record_that_no_cutting_makes_fit_keeps_only_that_fact(store: Store) -> None:
    wide: Any = "x" * 64
    for _ in range(7):
        wide = [wide] * 5
    written = store.append(a_trial(details={"value": wide}))
    assert list(written.details) == ["cut"]
    assert "nothing of it is kept" in written.details["cut"]


def test_a_long_error_is_cut(store: Store) -> None:
    written = store.append(a_trial(success=False, error="e" * 1_000_000))
    assert written.error.endswith("… [cut: 1,000,000 characters in all]")


def test_a_timestamp_is_utc_with_milliseconds() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", timestamp())


def test_threads_may_share_a_store(store: Store) -> None:
    def write(prefix: str) -> None:
        for number in range(25):
            store.append(a_trial(f"{prefix}{number}"))

    threads = [threading.Thread(target=write, args=(prefix,)) for prefix in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert {trial.scenario for trial in store.trials()} == {f"{p}{n}" for p in "abcd" for n in range(25)}


_text = st.text(st.characters(exclude_categories=()))
_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _text,
    lambda inner: st.lists(inner) | st.dictionaries(_text, inner) | st.tuples(inner),
    max_leaves=20,
)


@given(_anything)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_value_can_be_kept_and_read_back(store: Store, value: Any) -> None:
    kept = _kept(store, value)
    json.dumps(kept, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.requirement("I14.2.1")
def test_many_trials_are_written_together_and_an_earlier_one_of_a_number_stays(tmp_path: Path) -> None:
    with Store.open(tmp_path / "validation.sqlite3") as store:
        earlier = store.append(replace(a_trial("first"), run="r", number=2))
        kept = store.append_all([replace(a_trial(f"t{n}"), run="r", number=n) for n in (1, 2, 3)])
        assert [trial.scenario for trial in kept] == ["t1", "first", "t3"]
        assert kept[1] == earlier
        assert [trial.scenario for trial in store.trials()] == ["first", "t1", "t3"]


@pytest.mark.requirement("I14.2.1")
def test_of_trials_that_are_written_together_all_or_none_are_there(tmp_path: Path) -> None:
    with Store.open(tmp_path / "validation.sqlite3") as store:
        with pytest.raises(StoreError):
            store.append_all([a_trial("whole"), replace(a_trial("half"), timestamp={})])  # type: ignore[arg-type] # what no database takes
        assert store.trials() == []
