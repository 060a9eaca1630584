"""A collection's index is damaged, lost, interrupted, shared."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import pytest

from tests.support.document_collections import (
    changes_of,
    docs_of,
    index_folder,
    indexing_has_begun,
    serving,
    sources,
    write,
)
from tests.support.waiting import BOUND_S
from toolspan_server.engines.documents import _index_updater
from toolspan_server.errors import ToolFailure

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I2.4.3")]

ROOT = Path(__file__).parents[4]
PAGE = {"guide.md": "# Guide\n\n## Install\n\nUse pip.\n"}


async def test_an_index_damaged_while_running_is_rebuilt(tmp_path: Path) -> None:
    write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        await docs.changed(1)
        index = index_folder(tmp_path)
        (index / "index.sqlite3").write_bytes(b"no database at all " * 1000)
        assert await sources(docs, "pip") == ["guide.md"]
    assert len(list(index.parent.glob("docs-*.damaged-*"))) == 1


async def test_damage_that_only_a_search_meets_is_repaired(tmp_path: Path) -> None:
    write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        await docs.changed(1)
        with closing(sqlite3.connect(index_folder(tmp_path) / "index.sqlite3")) as connection, connection:
            connection.execute("UPDATE words_data SET block = x'ffffffff' WHERE id > 10")
        assert await sources(docs, "pip") == ["guide.md"]


async def test_an_index_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        await docs.changed(1)
        (index_folder(tmp_path) / "index.sqlite3").unlink()
        (index_folder(tmp_path) / "index.sqlite3").mkdir()
        with pytest.raises(ToolFailure, match="its index cannot be read: it is not a regular file"):
            await docs.search("pip", 5)


async def test_an_index_removed_while_running_is_rebuilt(tmp_path: Path) -> None:
    write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        await docs.changed(1)
        for file in (index := index_folder(tmp_path)).iterdir():
            file.unlink()
        index.rmdir()
        assert await sources(docs, "pip") == ["guide.md"]


async def test_a_state_folder_that_cannot_be_used_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_index_updater, "_RETRY_SECONDS", 0.0)
    write(tmp_path / "docs", PAGE)
    (tmp_path / ".toolspan").write_text("in the way")
    async with docs_of(tmp_path) as docs:
        with pytest.raises(ToolFailure, match="its index cannot be kept: in "):
            await docs.search("pip", 5)
        (tmp_path / ".toolspan").unlink()
        while docs.latest is None or docs.latest.problem:
            await docs.changed(docs.revision)
        assert await sources(docs, "pip") == ["guide.md"]


async def test_stopping_in_the_middle_of_indexing_leaves_the_rest_undone(tmp_path: Path) -> None:
    write(tmp_path / "docs", {f"{number}.md": f"# {number}\n\n" + "word " * 2000 for number in range(1500)})
    async with serving(tmp_path, docs={"path": "docs"}):
        while not indexing_has_begun(tmp_path):
            await anyio.lowlevel.checkpoint()
    with closing(sqlite3.connect(index_folder(tmp_path) / "index.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (files,) = connection.execute("SELECT count(*) FROM files").fetchone()
    assert 0 < files < 1500


def test_stopping_while_watching_leaves_no_thread(tmp_path: Path) -> None:
    write(tmp_path / "docs", PAGE)
    before = set(threading.enumerate())

    async def main() -> None:
        async with docs_of(tmp_path) as docs:
            await docs.changed(1)

    anyio.run(main)
    for thread in set(threading.enumerate()) - before:
        thread.join(BOUND_S)
        assert not thread.is_alive()


@contextmanager
def process(home: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.support.collection_process", str(home), "needle"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as running:
        try:
            yield running
        finally:
            running.kill()


def test_two_processes_share_an_index(tmp_path: Path) -> None:
    names = [f"{number:03}.md" for number in range(200)]
    folder = write(tmp_path / "docs", dict.fromkeys(names, "# Page\n\nword\n"))
    write(folder, {"needle.md": "needle"})
    with process(tmp_path) as one, process(tmp_path) as other:
        assert one.stdout is not None
        assert other.stdout is not None
        for running in (one.stdout, other.stdout):
            assert json.loads(running.readline()) == {"found": ["needle.md"], "problem": ""}
        one.communicate(timeout=BOUND_S)
        other_out, _ = other.communicate(timeout=BOUND_S)
    assert json.loads(other_out) == {"found": ["needle.md"], "problem": ""}
    with closing(sqlite3.connect(index_folder(tmp_path) / "index.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        assert connection.execute("SELECT count(*) FROM files").fetchone() == (201,)
        assert connection.execute("SELECT count(*) FROM passages").fetchone() == (201,)


async def test_a_killed_process_leaves_an_index_that_works(tmp_path: Path) -> None:
    write(
        tmp_path / "docs", {f"{number}.md": f"# {number}\n\nneedle {'word ' * 500}" for number in range(300)}
    )
    with process(tmp_path) as running:
        while not indexing_has_begun(tmp_path):
            await anyio.lowlevel.checkpoint()
        running.kill()
    async with docs_of(tmp_path) as docs:
        assert len(await sources(docs, "needle")) == 50
        assert sum(changes_of(docs)) == 300
