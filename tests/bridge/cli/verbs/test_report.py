"""``report``: chosen trials in any form, gates for CI, and forgetting."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.trials import a_trial
from toolspan_bridge.validation import STORE_FILE, Fingerprint, Store
from toolspan_bridge.validation.fingerprint import toolspan_version

pytestmark = pytest.mark.requirement("I14.5.2")

MARK = Fingerprint(suite="s", toolspan=toolspan_version())
EARLY, LATE = "2026-01-01T10:00:00.123Z", "2026-06-01T10:00:00.123Z"


def record(place: Path, outcomes: str, *, model: str = "m/a", suite: str = "s", at: str = LATE) -> None:
    with Store.open(place / ".toolspan" / STORE_FILE) as store:
        for each in outcomes:
            trial = a_trial(model_id=model, success=each == "+", timestamp=at)
            store.append(replace(trial, suite=suite, fingerprint=MARK))


def counts(place: Path, *options: str) -> dict[tuple[str, str], int]:
    ran = toolspan("report", "--json", *options, cwd=place)
    return {(each["model_id"], each["suite"]): each["test_count"] for each in ran.json}


def test_trials_are_chosen_by_model_suite_and_time(tmp_path: Path) -> None:
    record(tmp_path, "++", at=EARLY)
    record(tmp_path, "+")
    record(tmp_path, "+++", model="m/b", suite="t")
    assert counts(tmp_path) == {("m/a", "s"): 3, ("m/b", "t"): 3}
    assert counts(tmp_path, "-m", "m/b", "-m", "m/c") == {("m/b", "t"): 3}
    assert counts(tmp_path, "--suite", "s") == {("m/a", "s"): 3}
    assert counts(tmp_path, "--suite", "s", "--since", "2026-01-02") == {("m/a", "s"): 1}
    assert counts(tmp_path, "--suite", "s", "--since", "2026-01-01T10:00:00Z") == {("m/a", "s"): 3}
    none = toolspan("report", "--since", "2027-01-01", cwd=tmp_path)
    assert none.code == 2 and "no trials since 2027-01-01" in none.err
    assert toolspan("report", "--since", "yesterday", cwd=tmp_path).code == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("form", "begin"),
    [
        ("html", "<!DOCTYPE html>"),
        ("json", '{\n  "document": "toolspan-report"'),
        ("junit", "<?xml"),
        ("markdown", "## Validation"),
        ("csv", "model,suite,"),
        ("svg", "<svg"),
        ("badge", "🔧✓ <code>m/a</code> validated (n=40, 100 %, 91–100 %)"),
        ("table", "model"),
    ],
)
def test_each_form_is_printed_or_written_to_a_file(tmp_path: Path, form: str, begin: str) -> None:
    record(tmp_path, "+" * 40)
    printed = toolspan("report", "--format", form, cwd=tmp_path)
    assert printed.code == 0 and printed.out.startswith(begin)
    written = toolspan("report", "--format", form, "-o", "out", cwd=tmp_path)
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "out").read_text("utf-8").startswith(begin)
    assert toolspan("report", "-o", "no/such/folder", "--format", form, cwd=tmp_path).code == 2


def test_fail_under_is_6_for_a_rate_below_and_for_a_stale_record(tmp_path: Path) -> None:
    record(tmp_path, "+++-")
    assert toolspan("report", "--fail-under", "0.75", cwd=tmp_path).code == 0
    below = toolspan("report", "--fail-under", "0.76", cwd=tmp_path)
    assert below.code == 6 and "m/a, s does not reach 0.76: n=4, 75 %" in below.err
    with Store.open(tmp_path / ".toolspan" / STORE_FILE) as store:
        old = replace(MARK, toolspan="0.0.1")
        store.append(replace(a_trial(model_id="m/old", timestamp=LATE), suite="s", fingerprint=old))
    stale = toolspan("report", "--fail-under", "0.5", cwd=tmp_path)
    assert stale.code == 6 and "m/old, s does not reach 0.5: stale" in stale.err
    assert "Toolspan's version" in stale.err


@pytest.mark.requirement("I14.3.5")
def test_a_baseline_gates_on_what_is_worse_by_more_than_chance(tmp_path: Path) -> None:
    record(tmp_path, "+" * 30, at=EARLY)
    assert toolspan("report", "--format", "json", "-o", "before.json", cwd=tmp_path).code == 0
    assert toolspan("report", "--baseline", "before.json", cwd=tmp_path).code == 0
    record(tmp_path, "-" * 20)
    worse = toolspan("report", "--baseline", "before.json", "--since", "2026-05-01", cwd=tmp_path)
    assert worse.code == 6
    assert "m/a, s is worse than the baseline: n=30, 100 %" in worse.err and "worse" in worse.out
    assert json.loads((tmp_path / "before.json").read_text("utf-8"))["records"][0]["counts"]["n"] == 30


def test_forgetting_takes_the_chosen_trials_and_keeps_a_copy(tmp_path: Path) -> None:
    record(tmp_path, "++")
    record(tmp_path, "+++", model="m/b")
    ran = toolspan("report", "--forget", "-m", "m/b", cwd=tmp_path)
    assert ran.code == 0 and "forgot 3 trials" in ran.out
    assert counts(tmp_path) == {("m/a", "s"): 2}
    (backup,) = (tmp_path / ".toolspan").glob(f"{STORE_FILE}.backup-*")
    with Store.open(backup) as copy:
        assert len(copy.trials()) == 5
    again = toolspan("report", "--forget", "-m", "m/b", cwd=tmp_path)
    assert again.code == 2 and "nothing to forget" in again.err


@pytest.mark.requirement("I14.5.15")
def test_a_store_of_many_trials_is_told_from_its_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, "+++-")
    few = toolspan("report", cwd=tmp_path)
    monkeypatch.setattr("toolspan_bridge.cli.verbs.report._FEW", 3)
    monkeypatch.setattr(Store, "stream", lambda *given: pytest.fail("a trial is read"))
    many = toolspan("report", "--fail-under", "0.9", cwd=tmp_path)
    assert many.code == 6 and many.out == few.out
    assert toolspan("report", "--format", "badge", "--suite", "s", cwd=tmp_path).code == 0
