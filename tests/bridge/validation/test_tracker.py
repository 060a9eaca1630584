"""The tracker of models that programs keep themselves, and its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.trials import a_trial
from toolspan_bridge import StoreError, Tracker, build_records

pytestmark = pytest.mark.requirement("I14.5.3")


def test_it_counts_successes_and_failures_and_validates_at_four_of_five() -> None:
    tracker = Tracker()
    for _ in range(4):
        tracker.record_success("openai/gpt-4o", {"query": "?"})
    assert tracker.is_validated("openai/gpt-4o")
    tracker.record_failure("openai/gpt-4o", "no call")
    assert tracker.is_validated("openai/gpt-4o")
    tracker.record_failure("openai/gpt-4o", ValueError("again"))
    assert not tracker.is_validated("openai/gpt-4o")

    status = tracker.status("openai/gpt-4o")
    assert (status["tested"], status["test_count"], status["success_count"]) == (True, 6, 4)
    first, *_, last = status["test_history"]
    assert (first["success"], first["details"]) == (True, {"query": "?"})
    assert (last["success"], last["error"], last["timestamp"]) == (False, "again", status["last_tested"])
    assert tracker.badge("openai/gpt-4o").text == "failed (n=6, 66 %, 29–91 %)"


def test_a_success_after_failures_does_not_validate_by_itself() -> None:
    tracker = Tracker()
    tracker.record_failure("m", "no")
    tracker.record_success("m")
    assert not tracker.is_validated("m")


def test_a_model_that_was_never_tested_says_so() -> None:
    tracker = Tracker()
    assert tracker.status("m") == {"model_id": "m", "tested": False, "validated": False}
    assert (tracker.is_validated("m"), tracker.badge("m").status) == (False, "untested")
    assert tracker.all_validations() == []


def test_the_file_is_pairs_of_model_and_record_and_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "validations.json"
    tracker = Tracker(redact=lambda text: text.replace("hunter2", "***"))
    tracker.record_success("b", {"key": "hunter2", "bad": [float("nan"), "\ud800"]})
    tracker.record_failure("a", "hunter2")
    tracker.save(path)

    pairs = json.loads(path.read_text("utf-8"))
    assert [model for model, _ in pairs] == ["b", "a"]
    assert pairs[0][1]["test_history"][0]["details"] == {"key": "***", "bad": ["nan", "\ufffd"]}
    assert "hunter2" not in path.read_text("utf-8")
    again = Tracker()
    again.load(path)
    assert again.all_validations() == tracker.all_validations()
    again.record_success("a")
    assert again.status("a")["test_count"] == 2


def test_a_file_of_the_old_tracker_is_read(tmp_path: Path) -> None:
    path = tmp_path / "validations.json"
    record = {
        "model_id": "gpt-4o",
        "tested": True,
        "validated": True,
        "test_count": 1,
        "success_count": 1,
        "last_tested": "2025-11-01T10:00:00.000Z",
        "test_history": [{"timestamp": "2025-11-01T10:00:00.000Z", "success": True}],
    }
    path.write_text(json.dumps([["gpt-4o", record]]))
    tracker = Tracker()
    tracker.load(path)
    assert tracker.all_validations() == [record]


def test_the_exported_list_is_read_and_the_last_record_of_a_model_counts(tmp_path: Path) -> None:
    path = tmp_path / "validation.json"
    records = build_records([a_trial(), a_trial(success=False, timestamp="2026-11-22T10:00:00.123Z")])
    path.write_text(json.dumps([{**records[0], "last_tested": "2020", "test_count": 9}, *records]))
    tracker = Tracker()
    tracker.load(path)
    assert tracker.all_validations() == records
    assert Tracker.of_records(records).all_validations() == records


@pytest.mark.parametrize(
    "text",
    ["nonsense", "{}", "[1]", '[["m", {"test_count": 1, "success_count": 2}]]', '[["m", 1]]', "[" * 100_000],
)
def test_any_other_file_is_refused_and_nothing_is_lost(tmp_path: Path, text: str) -> None:
    path = tmp_path / "validations.json"
    path.write_text(text)
    tracker = Tracker()
    tracker.record_success("m")
    with pytest.raises(StoreError, match=r"validations\.json cannot be read as validation records"):
        tracker.load(path)
    assert tracker.status("m")["test_count"] == 1
    assert path.read_text() == text


def test_a_file_that_is_not_there_is_an_empty_one(tmp_path: Path) -> None:
    tracker = Tracker()
    tracker.load(tmp_path / "nothing.json")
    assert tracker.all_validations() == []
