"""A collection follows its folder while it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.support.document_collections import (
    docs_of,
    serving,
    sources,
    until_found,
    write,
)
from toolspan_server.engines import file_watch
from toolspan_server.errors import ToolFailure

pytestmark = [pytest.mark.long, pytest.mark.anyio, pytest.mark.requirement("I2.4.3")]

PAGE = {"guide.md": "# Guide\n\n## Install\n\nUse pip.\n"}


async def test_changes_while_running_are_found(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        write(folder, {"new/deep.md": "# New\n\nA needle.\n"})
        await until_found(docs, "needle", ["new/deep.md"])
        write(folder, {"new/deep.md": "# New\n\nA thread.\n"})
        await until_found(docs, "needle", [])
        (folder / "new").rename(folder / "renamed")
        await until_found(docs, "thread", ["renamed/deep.md"])
        (folder / "guide.md").unlink()
        await until_found(docs, "pip", [])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow only UTF-8 names")
async def test_a_new_file_whose_name_is_not_utf8_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        await docs.changed(1)
        (folder / os.fsdecode(b"b\xffd.md")).write_text("needle")
        await until_found(docs, "needle", ["b\\xffd.md"])
        write(folder, {"after.md": "thread"})
        await until_found(docs, "thread", ["after.md"])


async def test_a_folder_that_the_system_cannot_watch_is_looked_at_from_time_to_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import watchfiles

    def exhausted(*_: object, **__: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", exhausted)
    monkeypatch.setattr(file_watch, "WITHOUT_WATCHING_SECONDS", 0.05)
    folder = write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        write(folder, {"new.md": "needle"})
        await until_found(docs, "needle", ["new.md"])
    assert "cannot be watched (OS file watch limit reached)" in caplog.text


@pytest.mark.long
async def test_its_own_index_is_no_change(tmp_path: Path) -> None:
    write(tmp_path, PAGE)
    async with serving(tmp_path, "state", docs={"path": ".", "include": ["**"]}) as collections:
        docs = collections.collections["docs"]
        settled = await docs.changed(1)
        with anyio.move_on_after(1.2):
            await docs.changed(settled)
        assert docs.revision == settled
        assert docs.latest is not None
        assert (docs.latest.changes.unchanged, docs.latest.changes.skipped) == (1, 0)


async def test_a_missing_folder_is_told_and_found_once_it_is_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with docs_of(tmp_path) as docs:
        with pytest.raises(
            ToolFailure, match="Collection 'docs' cannot be searched: its folder does not exist"
        ):
            await docs.search("pip", 5)
        assert caplog.text.count("its folder does not exist") == 1
        write(tmp_path / "docs", PAGE)
        while docs.latest is None or docs.latest.problem:
            await docs.changed(docs.revision)
        assert await sources(docs, "pip") == ["guide.md"]


async def test_a_replaced_folder_is_watched_again(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", PAGE)
    async with docs_of(tmp_path) as docs:
        await docs.changed(1)
        folder.rename(tmp_path / "old")
        write(tmp_path / "next", {"a.md": "needle"}).rename(folder)
        while "a.md" not in await sources(docs, "needle"):
            await docs.changed(docs.revision)
        write(folder, {"b.md": "thread"})
        await until_found(docs, "thread", ["b.md"])
