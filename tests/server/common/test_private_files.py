"""State is for its owner alone, also what an earlier version left open to others."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from toolspan_bridge.validation import STORE_FILE, Store, export_records
from toolspan_server.common.state.folder import IGNORE_FILE, private_folder
from toolspan_server.common.state.private_files import private_database, private_file
from toolspan_server.engines.documents._index import open_index

pytestmark = [
    pytest.mark.requirement("I9.3.23"),
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes"),
]


@pytest.fixture(autouse=True)
def _everything_open() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    return [str(path) for path in [folder, *folder.rglob("*")] if mode(path) & 0o077]


def test_a_state_folder_and_all_its_missing_parents_are_made_for_the_owner_alone(tmp_path: Path) -> None:
    private_folder(tmp_path / "state" / "collections" / "docs")
    assert not open_to_others(tmp_path / "state")


def test_an_open_state_folder_is_closed_up_to_its_top_and_not_beyond(tmp_path: Path) -> None:
    project = tmp_path / "project"
    inner = project / ".toolspan" / "collections"
    project.mkdir()
    private_folder(inner)
    for folder in (project, project / ".toolspan", inner):
        folder.chmod(0o755)
    private_folder(inner)
    assert [mode(each) for each in (project, project / ".toolspan", inner)] == [0o755, 0o700, 0o700]


def test_a_folder_that_a_person_chose_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o775)
    private_folder(tmp_path / "shared")
    assert mode(tmp_path / "shared") == 0o775


def test_a_file_that_is_there_keeps_its_content_and_loses_others_rights(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("kept")
    path.chmod(0o644)
    assert private_file(path).read_text() == "kept"
    assert mode(path) == 0o600


def test_a_link_to_a_file_elsewhere_is_refused_and_changes_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "elsewhere").chmod(0o644)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="it is a link"):
        private_file(tmp_path / "link")
    assert mode(tmp_path / "elsewhere") == 0o644


def test_what_lies_beside_an_sqlite_file_is_closed_with_it(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")
        beside = {path.name, f"{path.name}-wal", f"{path.name}-shm"}
        assert {each.name for each in tmp_path.iterdir()} == beside
        private_database(path)
        assert [mode(each) for each in tmp_path.iterdir()] == [0o600] * 3


def test_a_validation_store_and_its_records_are_for_the_owner_alone(tmp_path: Path) -> None:
    state = tmp_path / ".toolspan"
    with Store.open(state / STORE_FILE) as store:
        export_records(store, state / "validation.json")
        assert {each.name for each in state.iterdir()} > {STORE_FILE, f"{STORE_FILE}-wal", "validation.json"}
        assert not open_to_others(state)


def test_a_validation_store_of_before_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    state = tmp_path / ".toolspan"
    with Store.open(state / STORE_FILE) as store:
        export_records(store, state / "validation.json")
    for path in [state, *(each for each in state.iterdir() if each.name != IGNORE_FILE)]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    with Store.open(state / STORE_FILE) as store:
        export_records(store, state / "validation.json")
        assert not open_to_others(state)


def test_an_index_of_documents_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / ".toolspan" / "collections" / "docs"
    with open_index(folder, Event()):
        assert not open_to_others(tmp_path / ".toolspan")
    for path in [folder, *folder.iterdir()]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    with open_index(folder, Event()):
        assert not open_to_others(tmp_path / ".toolspan")
