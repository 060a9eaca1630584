"""Reports of a store are of one moment, whatever is written meanwhile, and keep no trial in memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.stores import BOTH, place_for_a_store
from tests.support.trials import a_trial
from toolspan_bridge.validation import Fingerprint, Store, Trial, build_records, records_of
from toolspan_bridge.validation.evidence.records import counted_records
from toolspan_bridge.validation.records import record_data
from toolspan_bridge.validation.reports import FORMS, contents_of
from toolspan_bridge.validation.reports.streamed import StreamedList, json_pieces
from toolspan_bridge.validation.storage.selections.selection import ALL, Selection

pytestmark = pytest.mark.requirement("I14.5.16")

MARKS = (None, Fingerprint(model="a"), Fingerprint(model="b"))


def made(number: int, outcome: str, *, padding: int = 0) -> Trial:
    """A trial of one of two models, three fingerprints and two scenarios; ``outcome`` is +, - or !."""
    details = {
        "query": "q" + "x" * padding,
        "duration_ms": number * 7 % 50,
        "cost": {"usd": number / 8},
        "usage": {"input_tokens": number, "output_tokens": 1},
        "expected": {"calls": ["find"]},
        "tool_calls": [{"tool": "find" if outcome == "+" else "buy", "arguments": {}}],
        "tags": ["odd" if number % 2 else "even"],
        "weight": 1 + number % 3,
    }
    when = f"2026-11-26T10:00:00.{number % 1000:03}Z"
    trial = a_trial(f"s{number % 2}", model_id=f"m/{number % 3 % 2}", timestamp=when, details=details)
    failed = {} if outcome == "+" else {"success": False, "error": f"why {number % 4}"}
    return replace(trial, fingerprint=MARKS[number % 3], is_error=outcome == "!", **failed)


@pytest.fixture(params=BOTH)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with place_for_a_store(request.param, tmp_path) as place, Store.open(place) as opened:
        yield opened


@given(st.text("+-!", max_size=40))
@settings(deadline=None)
def test_trials_that_are_counted_give_the_reports_of_trials_that_are_kept(outcomes: str) -> None:
    trials = [made(number, outcome) for number, outcome in enumerate(outcomes)]
    kept = records_of(trials)
    counted = counted_records(
        iter(trials),
        again=lambda of: [each for each in trials if (each.model_id, each.suite, each.fingerprint) == of],
    )
    assert [list(each.trials) for each in kept] == [list(each.trials) for each in counted]
    for form, render in FORMS.items():
        one, other = (contents_of(records) for records in (kept, counted))
        texts = ["".join(render(replace(each, generated="now"))) for each in (one, other)]
        assert texts[0] == texts[1], form


def test_what_is_read_of_a_store_again_is_the_same_while_others_write(store: Store) -> None:
    store.append_all([made(number, "+-!"[number % 3]) for number in range(30)])
    with store.snapshot() as snapshot:
        records = snapshot.records(ALL)
        store.append_all([made(number, "+") for number in range(30, 60)])
        for record in records:
            for _ in range(2):
                assert len(list(record.trials)) == record.counts.tried
        again = [record.counts for record in snapshot.records(ALL)]
    assert again == [record.counts for record in records]
    assert sum(record.counts.tried for record in records) == 30
    assert len(store.trials()) == 60


def test_the_records_of_a_selection_have_its_trials_alone(store: Store) -> None:
    store.append_all([made(number, "+") for number in range(30)])
    since = "2026-11-26T10:00:00.010Z"
    with store.snapshot() as snapshot:
        for selection in (Selection(("m/0",)), Selection(("m/1",), since=since), Selection(fingerprint="")):
            records = snapshot.records(selection)
            found = [trial for record in records for trial in record.trials]
            wanted = [trial for trial in store.trials() if selection.has(trial)]
            assert wanted and sorted(found, key=lambda each: each.timestamp) == wanted


def test_json_that_is_streamed_is_the_same_text(store: Store) -> None:
    store.append_all([made(number, "+-!"[number % 3]) for number in range(30)])
    whole = json.dumps(build_records(store.trials()), ensure_ascii=False, indent=2) + "\n"
    with store.snapshot() as snapshot:
        found = [record_data(record, listed=StreamedList) for record in snapshot.records(ALL)]
        assert "".join(json_pieces(found)) == whole
    assert "".join(json_pieces({"none": StreamedList(0, lambda: ())})) == '{\n  "none": []\n}\n'


@pytest.mark.parametrize("form", ["json", "junit", "markdown", "csv"])
def test_a_report_takes_no_memory_for_its_trials(tmp_path: Path, form: str) -> None:
    count, padding = 3_000, 4_000
    with Store.open(tmp_path / "validation.sqlite3") as store:
        for part in range(0, count, 250):
            store.append_all(
                [made(number, "+-!"[number % 3], padding=padding) for number in range(part, part + 250)]
            )
        tracemalloc.start()
        try:
            with store.snapshot() as snapshot:
                for _ in FORMS[form](contents_of(snapshot.records(ALL))):
                    pass
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < count * padding
