"""Which store a verb reads and writes: the config's, the one of ``--store``, and none without consent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import toolspan
from tests.support.stores import postgres_place
from tests.support.trials import a_trial
from toolspan_bridge.validation import Store, read_records

pytestmark = pytest.mark.requirement("I14.2.66")
SUITE = "name: s\nscenarios:\n- query: Good morning!\n  expect: {no_calls: true}\n"


def config(place: Path, store: str) -> Path:
    path = place / "toolspan.yaml"
    path.write_text(f"validation: {{store: '{store}'}}\n")
    return path


def test_the_config_names_the_store_and_the_option_another_one(tmp_path: Path) -> None:
    config(tmp_path, "sqlite:///sub/own.db")
    for name in ("sub/own.db", "other.db"):
        with Store.open(tmp_path / name) as store:
            store.append(a_trial(model_id=f"m/{name[0]}"))
    named = ("-c", "toolspan.yaml")
    assert toolspan("report", "--json", *named, cwd=tmp_path).json[0]["model_id"] == "m/s"
    for url in ("sqlite:///other.db", "other.db", f"sqlite:///{tmp_path}/other.db"):
        assert toolspan("report", "--json", "--store", url, cwd=tmp_path).json[0]["model_id"] == "m/o"


def test_a_place_that_is_none_is_told_before_anything_is_done(tmp_path: Path) -> None:
    ran = toolspan("report", "--store", "mysql://root:hunter2@db/x", cwd=tmp_path)
    assert ran.code == 2 and "is no place of a validation store" in ran.err and "hunter2" not in ran.err
    config(tmp_path, "redis://u:hunter2@db")
    ran = toolspan("report", cwd=tmp_path)
    assert ran.code == 2 and "$.validation.store" in ran.err and "hunter2" not in ran.err


@pytest.mark.parametrize("verb", ["report", "models", "validate"])
def test_a_store_of_a_config_that_nobody_named_needs_consent(tmp_path: Path, verb: str) -> None:
    config(tmp_path, "postgresql://u:${PASSWORD:-hunter2}@db.example/x")
    ran = toolspan(verb, cwd=tmp_path)
    assert ran.code == (0 if verb == "models" else 2)  # without that store, there is nothing to report
    assert "keep what validation finds in the database on db.example" in ran.err
    assert "hunter2" not in ran.err


@pytest.mark.long
def test_trials_are_validated_reported_and_looked_up_in_postgresql(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE)
    with postgres_place() as url:
        named = ("-c", str(config(tmp_path, url)))
        ran = toolspan("validate", "--suite", "s.yaml", *named, cwd=tmp_path)
        assert ran.code == 0, ran.err
        (record,) = read_records(url)
        assert (record.counts.n, record.counts.successes) == (1, 1)
        assert "1 of 1" in toolspan("report", *named, cwd=tmp_path).out
        doctor = toolspan("doctor", *named, cwd=tmp_path)
        assert "has 1 trial" in doctor.out and not list(tmp_path.glob(".toolspan/*.sqlite3"))
        assert toolspan("report", "--forget", *named, cwd=tmp_path).code == 0
        assert list(tmp_path.glob(".toolspan/validation.sqlite3.backup-*"))
        assert toolspan("report", *named, cwd=tmp_path).code == 2


def test_doctor_says_that_a_store_cannot_be_reached(tmp_path: Path) -> None:
    path = config(tmp_path, "postgresql://u:hunter2@127.0.0.1:1/x")
    ran = toolspan("doctor", "-c", str(path), cwd=tmp_path)
    assert "cannot open the validation store postgresql://u:***@127.0.0.1:1/x" in ran.out
    assert "hunter2" not in ran.out + ran.err
