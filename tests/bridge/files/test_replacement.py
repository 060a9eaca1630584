"""What is written piece by piece is there whole, or what was there is unchanged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from toolspan_bridge.files.replacement import write_pieces

pytestmark = pytest.mark.requirement("I14.5.17")


def _broken() -> Iterator[str]:
    yield "new"
    raise ValueError("no more")


def test_pieces_take_the_place_of_a_file_with_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_pieces(path, iter(["one, ", "zwei ü", "\ud800"]))
    assert path.read_text("utf-8") == "one, zwei ü\\ud800"
    path.chmod(0o640)
    write_pieces(path, ["other"])
    assert path.read_text() == "other" and path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_new_file_has_the_permissions_that_the_process_gives_and_no_more(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_pieces(tmp_path / "own", ["text"])
        os.umask(0o022)
        write_pieces(tmp_path / "shared", ["text"])
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("own", "shared")]
    assert modes == [0o600, 0o644]


def test_pieces_that_fail_leave_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(ValueError, match="no more"):
        write_pieces(path, _broken())
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX links and pipes")
def test_a_link_stays_a_link_and_a_pipe_gets_the_pieces(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    write_pieces(link, ["new"])
    assert link.is_symlink() and target.read_text() == "new"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_pieces(pipe, ["to ", "a reader"])
    reader.join()
    assert read == ["to a reader"] and pipe.is_fifo()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        write_pieces(tmp_path, ["text"])
