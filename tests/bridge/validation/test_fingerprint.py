"""What was measured is kept with each trial; nothing else is pooled with it, and a change makes it stale."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.trials import a_trial, answering, given
from toolspan_bridge.errors import StoreError
from toolspan_bridge.events import Answer
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.validation import (
    Fingerprint,
    Store,
    Suite,
    Trial,
    read_choices,
    read_records,
    records_of,
    validate,
)
from toolspan_bridge.validation.fingerprint import PARTS, hash_of_tools, mode_parts, toolspan_version

pytestmark = pytest.mark.requirement("I14.3.1")

STORES = Path(__file__).parent / "stores"
MARK = Fingerprint(
    model="qwen3:8b",
    model_version="sha256:aa",
    provider="ollama",
    base_url="http://127.0.0.1:11434",
    mode="native",
    format="ollama",
    sampling='{"max_iterations":5}',
    tools="t1",
    suite="s1",
    toolspan="1.0",
)


def marked(mark: Fingerprint | None, *, success: bool = True, at: str = "2026-11-21T10:00:00.123Z") -> Trial:
    return replace(a_trial(success=success, timestamp=at), fingerprint=mark)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(
        tmp_path / "validation.sqlite3", redact=lambda text: text.replace("hunter2", "***")
    ) as it:
        yield it


@pytest.mark.parametrize("part", PARTS)
def test_a_change_of_any_part_makes_another_record_and_the_earlier_one_stale(store: Store, part: str) -> None:
    later = replace(MARK, **{part: "prompt" if part == "mode" else "changed"})
    store.append(marked(MARK))
    store.append(marked(MARK, success=False))
    store.append(marked(later, at="2026-11-22T10:00:00.123Z"))

    new, old = store.records()

    assert (new.fingerprint, new.counts.n, new.changed) == (later, 1, ())
    assert (old.fingerprint, old.counts.n, old.counts.successes, old.changed) == (MARK, 2, 1, (part,))
    assert [(r.fingerprint, r.counts, r.changed) for r in records_of(store.trials())] == [
        (r.fingerprint, r.counts, r.changed) for r in (new, old)
    ]
    assert read_records(store.path) == [new, old]
    assert (store.totals("offline/keyword", MARK).test_count, store.totals("offline/keyword").test_count) == (
        2,
        3,
    )


def test_two_suites_of_one_model_are_two_records_that_both_hold(store: Store) -> None:
    store.append(marked(MARK))
    store.append(replace(marked(replace(MARK, suite="s2")), suite="other"))
    assert [(record.suite, record.changed) for record in store.records()] == [("default", ()), ("other", ())]


def test_a_part_that_is_different_now_makes_the_last_record_stale(store: Store) -> None:
    store.append(marked(MARK))
    (record,) = store.records(present=lambda record: {"base_url": "http://elsewhere", "tools": "t1"})
    assert record.changed == ("base_url",)


def test_secrets_are_not_kept_in_fingerprints(store: Store) -> None:
    store.append(marked(replace(MARK, base_url="https://hunter2.example")))
    (trial,) = store.trials()
    assert trial.fingerprint is not None and trial.fingerprint.base_url == "https://***.example"
    assert (
        b"hunter2"
        not in store.path.read_bytes() + store.path.with_name(f"{store.path.name}-wal").read_bytes()
    )


def test_the_hash_of_the_tools_is_of_what_is_offered_in_any_order() -> None:
    one = ToolSpec("shop", "find", "Finds", {"type": "object", "properties": {"a": {}, "b": {}}})
    turned = replace(one, schema={"properties": {"b": {}, "a": {}}, "type": "object"})
    two = ToolSpec("shop", "buy", "Buys", {"type": "object"})
    assert hash_of_tools([one, two]) == hash_of_tools([two, turned])
    assert len({hash_of_tools([each]) for each in (one, two, replace(one, description="Searches"))}) == 3
    assert hash_of_tools([one]) != hash_of_tools([replace(one, schema={"type": "object"})])


@pytest.mark.parametrize(
    ("name", "mode", "wording", "wire"),
    [
        ("openai", "native", "", "openai"),
        ("prompt:openai", "prompt", "json-tools", "openai"),
        ("prompt.rules-first:ollama", "prompt", "rules-first", "ollama"),
    ],
)
def test_the_mode_and_the_wording_are_told_by_the_format(
    name: str, mode: str, wording: str, wire: str
) -> None:
    assert mode_parts(name) == {"mode": mode, "wording": wording, "format": wire}


@pytest.mark.anyio
async def test_a_run_marks_its_trials_with_the_suite_and_the_version(store: Store) -> None:
    @answering
    async def ask(model: str, query: str) -> Answer:
        return given("4")

    async def told(model: str) -> Fingerprint:
        return replace(MARK, model=model)

    def suite(answer: str) -> Suite:
        return Suite.model_validate(
            {"name": "s", "scenarios": [{"query": "?", "expect": {"answer": answer}}]}
        )

    await validate(["a/x"], suite("4"), ask, store, fingerprint_of=told)
    await validate(["a/x"], suite("5"), ask, store, fingerprint_of=told)
    report = await validate(["a/x"], suite("4"), ask, store, fingerprint_of=told)

    first, second, third = (trial.fingerprint for trial in store.trials())
    assert first is not None and second is not None and first == third
    assert first.changed(second.as_dict()) == ("suite",)
    assert (first.toolspan, first.model) == (toolspan_version(), "a/x")
    assert report.models[0].totals.test_count == 2, "of the same suite only"


@pytest.mark.requirement("I14.3.2")
@pytest.mark.parametrize(("version", "count"), [(1, 2), (2, 3), (3, 3)])
def test_a_store_of_an_earlier_version_loses_nothing(tmp_path: Path, version: int, count: int) -> None:
    path = tmp_path / "validation.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((STORES / f"version_{version}.sql").read_text("utf-8"))
        rows = connection.execute("SELECT * FROM trials ORDER BY id").fetchall()
    as_it_is = read_records(path)
    choices = read_choices(path)

    with Store.open(path) as store:
        assert store.notices == ()
        kept = store.trials()
        assert store.records() == as_it_is
        assert all(("fingerprint" in record.changed) is (record.fingerprint is None) for record in as_it_is)
        store.append(marked(MARK))

    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (4,)
        after = connection.execute("SELECT * FROM trials ORDER BY id").fetchall()
    assert rows == [row[: len(rows[0])] for row in after[:-1]], "byte for byte, with the checksums of then"
    assert {row[10:13] for row in after} == {(0, "", 0)}
    assert (
        len(kept) == count and sum(trial.fingerprint is not None for trial in kept) == (version - 1) // 2 * 2
    )
    assert read_choices(path) == choices and len(choices) == min(version - 1, 1)
    with Store.open(path) as store:
        assert (store.notices, len(store.trials())) == ((), count + 1)


def test_a_fingerprint_that_the_disk_changed_sets_the_store_aside(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    with Store.open(path) as store:
        store.append(marked(MARK))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE fingerprints SET parts = replace(parts, 'qwen3', 'qwen2')")
    with Store.open(path) as store:
        assert (len(store.notices), store.trials()) == (1, [])


def test_what_is_forgotten_is_in_a_copy_of_the_store_made_before(store: Store) -> None:
    for name in ("keep", "forget", "forget"):
        store.append(replace(marked(MARK), scenario=name))
    before = store.trials()

    count, backup = store.forget(lambda trial: trial.scenario == "forget")

    assert count == 2 and backup is not None
    assert [trial.scenario for trial in store.trials()] == ["keep"]
    with Store.open(backup) as copy:
        assert copy.trials() == before
    assert store.forget(lambda trial: False) == (0, None)


def test_nothing_is_forgotten_where_no_copy_can_be_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(marked(MARK))
    monkeypatch.setattr("toolspan_bridge.validation.storage.sqlite.private_database", _no_room)
    with pytest.raises(StoreError, match="nothing was removed"):
        store.forget(lambda trial: True)
    assert len(store.trials()) == 1


def _no_room(path: Path) -> Path:
    raise OSError(28, "No space left on device")
