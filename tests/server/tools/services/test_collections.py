"""``services.collections``: configured, and indexed at start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from pydantic import ValidationError

from tests.support.document_collections import (
    changes_of,
    collections_of,
    docs_of,
    serving,
    sources,
    write,
)
from tests.support.pdf import pdf_with
from tests.support.waiting import BOUND_S
from toolspan_server.tools.services.collections import Config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I2.4.3")]

PAGE = {"guide.md": "# Guide\n\n## Install\n\nUse pip.\n"}


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"docs": {}}, ("docs", "path")),
        ({"docs": {"path": "docs", "glob": "*"}}, ("docs", "glob")),
        ({"my docs": {"path": "docs"}}, ("my docs", "[key]")),
        ({"x" * 65: {"path": "docs"}}, ("x" * 65, "[key]")),
        ({"docs": {"path": "docs", "include": []}}, ("docs", "include")),
    ],
)
def test_a_wrong_config_is_refused_where_it_is_wrong(config: object, place: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        Config.model_validate(config)
    assert [error["loc"] for error in caught.value.errors()] == [place]


def test_reading_a_config_imports_nothing_heavy() -> None:
    program = (
        "import sys, toolspan_server.tools.services.collections\n"
        "print(sorted({'sqlite3', 'pypdf', 'watchfiles', 'html.parser'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=BOUND_S
    )
    assert run.stdout.strip() == "[]"


async def test_every_kind_of_document_is_found(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.md": "# Markdown\n\nneedle\n",
        "b.txt": "plain needle",
        "c.html": "<h1>Page</h1><p>needle</p>",
        "d.rst": "Title\n=====\n\nneedle\n",
        "e.pdf": pdf_with("a needle on paper"),
        "f.bin": "needle",
    }
    write(tmp_path / "docs", files)
    async with docs_of(tmp_path) as docs:
        assert await sources(docs, "needle") == ["a.md", "b.txt", "c.html", "d.rst", "e.pdf"]


async def test_include_and_exclude_choose_the_files(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "needle", "b.txt": "needle", "old/c.md": "needle", "d.py": "# needle"})
    config = {"path": "docs", "include": ["**/*.md", "*.py"], "exclude": ["old"]}
    async with serving(tmp_path, docs=config) as collections:
        assert await sources(collections.collections["docs"], "needle") == ["a.md", "d.py"]


async def test_an_absolute_path_is_taken_as_it_is(tmp_path: Path) -> None:
    docs = write(tmp_path / "elsewhere", PAGE)
    async with serving(tmp_path / "home", docs={"path": str(docs)}) as collections:
        assert await sources(collections.collections["docs"], "pip") == ["guide.md"]


async def test_bad_files_are_told_once_in_the_log_and_cost_only_themselves(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bad = {"bin.md": b"\0\1", "latin.txt": b"\xff", "bad.pdf": b"no pdf", "big.txt": b"x" * (2 * 1024**2 + 1)}
    docs = write(tmp_path / "docs", {**PAGE, **bad})
    if sys.platform != "win32":
        os.mkfifo(docs / "fifo.md")
    async with docs_of(tmp_path) as collection:
        await collection.changed(1)
        assert await sources(collection, "pip") == ["guide.md"]
    for name in [*bad, *(["fifo.md"] if sys.platform != "win32" else [])]:
        assert caplog.text.count(f"left out {name!r}") == 1


async def test_a_second_start_indexes_nothing_again(tmp_path: Path) -> None:
    write(tmp_path / "docs", {**PAGE, "b.md": "# B\n\nText.\n"})
    async with docs_of(tmp_path) as docs:
        assert changes_of(docs) == (2, 0, 0)
    async with docs_of(tmp_path) as docs:
        assert changes_of(docs) == (0, 2, 0)
        assert await sources(docs, "pip") == ["guide.md"]


async def test_a_start_indexes_what_changed_meanwhile(tmp_path: Path) -> None:
    write(tmp_path / "docs", {**PAGE, "old.md": "old", "same.md": "same"})
    async with docs_of(tmp_path):
        pass
    (tmp_path / "docs" / "old.md").unlink()
    write(tmp_path / "docs", {"guide.md": "Use conda.", "new.md": "new"})
    async with docs_of(tmp_path) as docs:
        assert changes_of(docs) == (2, 1, 1)
        assert await sources(docs, "pip") == []
        assert await sources(docs, "conda") == ["guide.md"]


async def test_a_query_during_the_first_indexing_waits_for_it(tmp_path: Path) -> None:
    write(tmp_path / "docs", PAGE)
    docs = collections_of(tmp_path, docs={"path": "docs"}).collections["docs"]
    found: list[str] = []

    async def ask() -> None:
        found.extend(await sources(docs, "pip"))
        group.cancel_scope.cancel()

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert not found
            group.start_soon(docs.run)
    assert found == ["guide.md"]
