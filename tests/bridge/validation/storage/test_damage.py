"""A store that cannot be trusted is kept under another name or refused, never replaced in silence."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.trials import a_trial
from toolspan_bridge.errors import StoreError
from toolspan_bridge.validation import (
    Measured,
    Store,
    WordingChoice,
    export_records,
)

pytestmark = pytest.mark.requirement("I2.7.2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound store with forty trials."""
    path = tmp_path / ".toolspan" / "validation.sqlite3"
    with Store.open(path) as store:
        for number in range(40):
            store.append(a_trial(f"earlier {number}", details={"pad": "x" * 500}))
    return path


def _zero_a_page(raw: bytes) -> bytes:
    start = raw.index(b"earlier 20") // 4096 * 4096
    return raw[:start] + bytes(4096) + raw[start + 4096 :]


def _break_a_record(raw: bytes) -> bytes:
    return raw.replace(b'{"pad":"xxx', b'{"pad"=xxxx', 1)


def _set_aside(path: Path) -> list[Path]:
    found = path.parent.glob(f"{path.name}.damaged-*")
    return [aside for aside in found if not aside.name.endswith(("-wal", "-shm"))]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "another kind of file": lambda raw: b'{"not": "a database"}' * 100,
    "cut in half": lambda raw: raw[: len(raw) // 2],
    "cut inside a page": lambda raw: raw[:-100],
    "only a header": lambda raw: raw[:100],
    "header overwritten": lambda raw: bytes(100) + raw[100:],
    "a page of zeros": _zero_a_page,
    "one broken record": _break_a_record,
    "one changed letter": lambda raw: raw.replace(b"earlier 7", b"earlier 9", 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_is_set_aside_by_name_and_a_new_one_started(path: Path, damage: str) -> None:
    damaged = DAMAGES[damage](path.read_bytes())
    path.write_bytes(damaged)

    with Store.open(path) as store:
        assert store.trials() == []
        store.append(a_trial("later"))
        (notice,) = store.notices

    (aside,) = _set_aside(path)
    assert aside.read_bytes() == damaged
    assert str(path) in notice
    assert str(aside) in notice
    with Store.open(path) as store:
        assert [trial.scenario for trial in store.trials()] == ["later"]


def test_a_set_aside_store_is_named_at_every_start_until_it_is_removed(path: Path) -> None:
    path.write_bytes(b"nonsense")
    with Store.open(path) as store:
        first = store.notices
    with Store.open(path) as store:
        assert store.notices == first
    for aside in path.parent.glob("*.damaged-*"):
        aside.unlink()
    with Store.open(path) as store:
        assert store.notices == ()


def test_two_damaged_stores_are_both_kept(path: Path) -> None:
    for content in (b"first", b"second"):
        path.write_bytes(content)
        Store.open(path).close()

    kept = sorted(aside.read_bytes() for aside in _set_aside(path))
    assert kept == [b"first", b"second"]


def test_the_log_of_a_damaged_store_is_set_aside_with_it(path: Path) -> None:
    path.write_bytes(b"nonsense")
    path.with_name(path.name + "-wal").write_bytes(b"may hold the last trials")

    Store.open(path).close()

    (log,) = path.parent.glob("validation.sqlite3.damaged-*-wal")
    assert log.read_bytes() == b"may hold the last trials"


def test_a_log_whose_store_is_gone_is_set_aside_too(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.with_name(path.name + "-wal").write_bytes(b"may hold the last trials")

    with Store.open(path) as store:
        (notice,) = store.notices

    (log,) = path.parent.glob("validation.sqlite3.damaged-*-wal")
    assert str(log).removesuffix("-wal") in notice


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 7")
    before = path.read_bytes()

    with pytest.raises(StoreError) as refusal:
        Store.open(path)

    assert str(path) in refusal.value.message
    assert "written by a newer Toolspan (store version 7, this one reads up to 4)" in refusal.value.message
    assert path.read_bytes() == before
    assert _set_aside(path) == []


def test_another_programs_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "validation.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
    before = path.read_bytes()

    with pytest.raises(StoreError, match="another program's database"):
        Store.open(path)

    assert path.read_bytes() == before


def test_a_store_that_loses_its_file_while_in_use_acknowledges_nothing_more(path: Path) -> None:
    with Store.open(path) as store:
        store.append(a_trial("before"))
        path.rename(path.with_name("moved"))
        with pytest.raises(StoreError, match="removed or replaced while in use"):
            store.append(a_trial("after"))
        way = Measured(1, 1, 18)
        with pytest.raises(StoreError, match="removed or replaced while in use; the choice"):
            store.choose(WordingChoice("ollama/gemma3", "json-tools", way, {"json-tools": way}, ""))


def test_damage_that_happens_while_in_use_is_told_and_not_overwritten(path: Path) -> None:
    with Store.open(path) as store:
        path.write_bytes(_zero_a_page(path.read_bytes()))
        with pytest.raises(StoreError, match="it is damaged"):
            store.trials()
    with Store.open(path) as store:
        assert len(store.notices) == 1


def test_a_folder_in_the_stores_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "validation.sqlite3").mkdir()
    with pytest.raises(StoreError, match="not a regular file"):
        Store.open(tmp_path / "validation.sqlite3")


def test_a_file_in_the_state_directorys_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".toolspan").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot open the validation store .*: it is not a folder"):
        Store.open(tmp_path / ".toolspan" / "validation.sqlite3")


def test_an_export_that_cannot_be_written_leaves_the_last_one(path: Path, tmp_path: Path) -> None:
    export = tmp_path / "validation.json"
    with Store.open(path) as store:
        export_records(store, export)
        before = export.read_bytes()
        store.append(a_trial("later"))
        (tmp_path / "validation.json.lock").unlink()
        (tmp_path / "validation.json.lock").mkdir()
        with pytest.raises(
            StoreError, match=r"cannot write the validation records to .*; the trials are safe"
        ):
            export_records(store, export)
    assert export.read_bytes() == before


def test_a_store_that_is_written_meanwhile_is_not_taken_for_a_damaged_one(path: Path) -> None:
    def write() -> None:
        with Store.open(path) as store:
            for number in range(150):
                store.append(a_trial(f"later {number}", details={"pad": "y" * 5_000}))

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        Store.open(path).close()
    writer.join()
    assert _set_aside(path) == []
    with Store.open(path) as store:
        assert sum(record.counts.n for record in store.records()) == 190
