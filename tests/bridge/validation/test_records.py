"""Validation records: the exported shape, and its counts after any sequence of trials."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from typing_extensions import override

from tests.support.trials import a_trial
from toolspan_bridge.validation import (
    Store,
    build_record,
    build_records,
    export_records,
)

UNKNOWN = "not known, its version kept no fingerprint"
pytestmark = pytest.mark.requirement("I2.7.2")


def _exported(folder: Path, *trials: Any) -> Any:
    with Store.open(folder / "validation.sqlite3") as store:
        for trial in trials:
            store.append(trial)
        path = export_records(store, folder / "validation.json")
    assert path == folder / "validation.json"
    return json.loads(path.read_text("utf-8"))


def test_a_record_has_exactly_the_documented_shape(tmp_path: Path) -> None:
    first, second = "2026-11-21T10:00:00.123Z", "2026-11-21T10:00:01.456Z"
    trials = [
        a_trial(
            timestamp=first,
            details={"query": "What's the weather in Paris?", "cost": {"usd": 0.25}, "rescued": 2},
        ),
        a_trial(success=False, error="get_weather was not called (no tool was)", timestamp=second),
    ]

    assert _exported(tmp_path, *trials) == [
        {
            "model_id": "offline/keyword",
            "tested": True,
            "validated": False,
            "test_count": 2,
            "success_count": 1,
            "error_count": 0,
            "last_tested": second,
            "cost": {"usd": None},
            "rescued": 2,
            "suite": "default",
            "fingerprint": None,
            "badge": {
                "status": "stale",
                "text": f"stale (n=2, 50 %, 9–91 %; changed: {UNKNOWN})",
                "signed": f"🔧⚠️ stale (n=2, 50 %, 9–91 %; changed: {UNKNOWN})",
                "n": 2,
                "successes": 1,
                "errors": 0,
                "rate": 0.5,
                "interval": [0.094531, 0.905469],
                "changed": ["fingerprint"],
            },
            "test_history": [
                {
                    "timestamp": first,
                    "success": True,
                    "cost": {"usd": 0.25},
                    "rescued": 2,
                    "details": {
                        "query": "What's the weather in Paris?",
                        "cost": {"usd": 0.25},
                        "rescued": 2,
                    },
                },
                {
                    "timestamp": second,
                    "success": False,
                    "cost": {"usd": None},
                    "rescued": 0,
                    "error": "get_weather was not called (no tool was)",
                },
            ],
            "errors": [],
        }
    ]


@pytest.mark.requirement("I11.3.31")
@pytest.mark.parametrize(
    "details", [{}, {"cost": 3}, {"cost": {"usd": True}}, {"cost": {"usd": "1"}, "rescued": None}]
)
def test_a_trial_of_an_earlier_version_has_no_known_cost(tmp_path: Path, details: dict[str, Any]) -> None:
    known = a_trial(details={"cost": {"usd": 0.25}})
    (record,) = _exported(tmp_path, a_trial(details={"query": "?", **details}), known)
    assert [entry["cost"]["usd"] for entry in record["test_history"]] == [None, 0.25]
    assert (record["cost"], record["rescued"]) == ({"usd": None}, 0)
    assert build_record("a/x", [known, known])["cost"] == {"usd": 0.5}


def test_each_model_has_its_own_record_sorted_by_name(tmp_path: Path) -> None:
    trials = [a_trial(model_id=model) for model in ("ollama/b", "gemini/c", "ollama/b")]
    records = _exported(tmp_path, *trials)
    assert [(record["model_id"], record["test_count"]) for record in records] == [
        ("gemini/c", 1),
        ("ollama/b", 2),
    ]


def test_without_a_trial_there_is_no_record_and_no_validation(tmp_path: Path) -> None:
    assert _exported(tmp_path) == []
    record = build_record("openai/gpt-4o", [])
    assert (record["tested"], record["validated"], record["last_tested"]) == (False, False, None)


@pytest.mark.parametrize("count", [5, 10, 15, 100, 1_000])
def test_four_of_five_validate_and_one_less_does_not(count: int) -> None:
    enough = count * 4 // 5
    for successes, validated in ((enough, True), (enough - 1, False)):
        trials = [a_trial(success=number < successes) for number in range(count)]
        assert build_record("m", trials)["validated"] is validated


def test_a_success_after_failures_does_not_validate_by_itself() -> None:
    trials = [a_trial(success=False), a_trial(success=False), a_trial(success=True)]
    assert build_record("m", trials)["validated"] is False


def test_a_failure_that_keeps_the_rate_does_not_take_the_badge() -> None:
    trials = [*(a_trial() for _ in range(9)), a_trial(success=False)]
    assert build_record("m", trials)["validated"] is True


def test_an_export_replaces_the_last_one_whole(tmp_path: Path) -> None:
    assert len(_exported(tmp_path, *(a_trial() for _ in range(50)))[0]["test_history"]) == 50
    assert len(_exported(tmp_path, a_trial())[0]["test_history"]) == 51
    assert not list(tmp_path.glob("*.tmp")) + list(tmp_path.glob(".*.tmp"))


def test_exports_at_the_same_time_leave_every_trial_in_the_file(tmp_path: Path) -> None:
    export = tmp_path / "validation.json"

    def work(prefix: str) -> None:
        with Store.open(tmp_path / "validation.sqlite3") as store:
            for number in range(10):
                store.append(a_trial(f"{prefix}{number}"))
                export_records(store, export)

    threads = [threading.Thread(target=work, args=(prefix,)) for prefix in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    (record,) = json.loads(export.read_text("utf-8"))
    assert record["test_count"] == 30


class _AnySequence(RuleBasedStateMachine):
    """Trials of two models, reopening and exporting in any order; a dictionary knows what must be there."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = Store.open(self.folder / "validation.sqlite3")
        self.outcomes: dict[str, list[bool]] = {}

    @rule(model=st.sampled_from(["ollama/a", "gemini/b"]), success=st.booleans())
    def record(self, model: str, success: bool) -> None:
        self.store.append(a_trial(model_id=model, success=success))
        self.outcomes.setdefault(model, []).append(success)

    @rule(model=st.sampled_from(["ollama/a", "gemini/b"]), count=st.integers(1, 12))
    def record_successes(self, model: str, count: int) -> None:
        for _ in range(count):
            self.record(model, success=True)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.folder / "validation.sqlite3")

    @rule()
    def export(self) -> None:
        path = export_records(self.store, self.folder / "validation.json")
        assert json.loads(path.read_text("utf-8")) == build_records(self.store.trials())

    @invariant()
    def the_records_are_what_happened(self) -> None:
        records = {record["model_id"]: record for record in build_records(self.store.trials())}
        assert set(records) == set(self.outcomes)
        for model, outcomes in self.outcomes.items():
            record = records[model]
            assert (record["test_count"], record["success_count"]) == (len(outcomes), sum(outcomes))
            assert record["validated"] == (Fraction(sum(outcomes), len(outcomes)) >= Fraction(4, 5))
            assert [entry["success"] for entry in record["test_history"]] == outcomes
            assert all(("details" in entry) == entry["success"] for entry in record["test_history"])
            assert all(("error" in entry) != entry["success"] for entry in record["test_history"])

    @override
    def teardown(self) -> None:
        assert self.store.notices == ()
        self.store.close()
        shutil.rmtree(self.folder)


TestAnySequenceOfTrials = pytest.mark.long(_AnySequence.TestCase)
TestAnySequenceOfTrials.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
