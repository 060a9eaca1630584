"""A workspace that changes while tools use it: clear errors, whole results, and nothing outside touched."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files

pytestmark = [
    pytest.mark.long,
    pytest.mark.anyio,
    pytest.mark.requirement("I12.6.6"),
    pytest.mark.skipif(sys.platform == "win32", reason="links, FIFOs and modes are POSIX"),
]
ROUNDS = 20
NOBODY = 65_534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A workspace beside ``outside``, which holds a file that no tool may reach; others may enter both."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(made)
        base.chmod(0o755)
        write_files(base / "outside", {"a.txt": "secret\n"})
        yield write_files(base / "ws", {"d/a.txt": "old\n", "d/b.txt": "other\n"})


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder) as found:
        yield found


def replaced(file: Path) -> None:
    file.with_name("new").write_text("new\n")
    file.with_name("new").rename(file)


def linked_out(file: Path) -> None:
    file.unlink()
    file.symlink_to("../../outside/a.txt")


def linked_in(file: Path) -> None:
    file.unlink()
    file.symlink_to("b.txt")


def second_name(file: Path) -> None:
    os.link(file, file.with_name("c.txt"))


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def made_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def read_only(file: Path) -> None:
    file.chmod(0o444)


def folder_linked_out(file: Path) -> None:
    shutil.move(file.parent, file.parents[2] / "moved")
    file.parent.symlink_to("../outside")


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "deleted": (Path.unlink, "file_not_found: "),
    "replaced": (replaced, "changed_since_read: "),
    "link that leads out": (linked_out, "symbolic_link: |outside_workspace: "),
    "link to another file": (linked_in, "symbolic_link: |not_read: "),
    "a second name": (second_name, "hard_link: "),
    "pipe": (pipe, "not_a_file: "),
    "folder": (made_folder, "not_a_file: "),
    "read-only": (read_only, "permission_denied: "),
    "folder that leads out": (folder_linked_out, "outside_workspace: "),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("tool", ["Edit", "Write"])
async def test_what_became_of_a_file_since_it_was_read_is_said_and_nothing_is_written(
    tools: WorkspaceTools, folder: Path, how: str, tool: str
) -> None:
    change, told = CHANGES[how]
    await tools.good("Read", file_path="d/a.txt")
    change(folder / "d/a.txt")
    before = contents(folder.parent)
    if (tool, how) == ("Write", "deleted"):
        await tools.good("Write", file_path="d/a.txt", content="mine\n")
        assert (folder / "d/a.txt").read_text() == "mine\n"
        return
    arguments = {"content": "mine\n"} if tool == "Write" else {"old_string": "old", "new_string": "mine"}
    refused = await tools.refused(tool, file_path="d/a.txt", **arguments)
    assert re.match(told, refused), refused
    assert "secret" not in refused
    assert contents(folder.parent) == before
    assert await tools.good("Changes") == {"files": []}


def contents(base: Path) -> dict[str, Any]:
    """What each file beneath ``base`` holds, links and pipes by what they are; not the server's state."""
    found: dict[str, Any] = {}
    for path in sorted(base.rglob("*")):
        name = str(path.relative_to(base))
        if name.startswith("state"):
            continue
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        else:
            found[name] = path.read_bytes() if path.is_file() else path.stat().st_mode
    return found


@contextmanager
def meanwhile(work: Callable[[], None]) -> Generator[None]:
    """``work`` again and again in a thread of its own; it has been done once when the block begins."""
    end, begun = threading.Event(), threading.Event()

    def repeat() -> None:
        while not end.is_set():
            work()
            begun.set()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        begun.wait()
        yield
    finally:
        end.set()
        thread.join()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("Glob", {"pattern": "**/*.txt"}), ("Grep", {"pattern": "tide|secret", "output_mode": "content"})],
)
async def test_folders_that_are_renamed_and_become_links_are_searched_without_an_error_or_a_way_out(
    tools: WorkspaceTools, folder: Path, tool: str, arguments: dict[str, Any]
) -> None:
    for number in range(8):
        write_files(folder / f"f{number}", {f"{n}.txt": "tide\n" for n in range(20)})
    write_files(folder, {"stays.txt": "tide\n"})

    def rename() -> None:
        for number in range(0, 8, 2):
            here, there = folder / f"f{number}", folder / f"moved{number}"
            here.rename(there)
            here.symlink_to("../outside")
            here.unlink()
            there.rename(here)

    with meanwhile(rename):
        for _ in range(ROUNDS):
            found = str(await tools.good(tool, **arguments))
            assert "stays.txt" in found and "f1/7.txt" in found
            assert "secret" not in found


async def test_a_file_that_grows_is_read_as_whole_lines_that_were_there(
    tools: WorkspaceTools, folder: Path
) -> None:
    count = 0
    with (folder / "log").open("w", buffering=1) as log:

        def grow() -> None:
            nonlocal count
            log.write(f"line {count}\n")
            count += 1

        with meanwhile(grow):
            for _ in range(ROUNDS):
                text = str(await tools.good("Read", file_path="log", limit=50))
                shown = re.findall(r"(\d+)\W+line (\d+)", text)
                assert shown and all(int(number) == int(line) + 1 for number, line in shown)
    edit = {"old_string": "line 0\n", "new_string": "first\n"}
    refused = await tools.refused("Edit", file_path="log", **edit)
    assert refused.startswith(("changed_since_read: ", "too_large: "))


@contextmanager
def without_rights() -> Generator[None]:
    """As a user who owns nothing, where this one may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_rights_that_are_taken_away_are_said_and_the_rest_is_found(
    tools: WorkspaceTools, folder: Path
) -> None:
    write_files(folder, {"closed/x.txt": "tide\n", "open.txt": "tide\n"})
    await tools.good("Read", file_path="closed/x.txt")
    await tools.good("Read", file_path="open.txt")
    state = folder.parent / "state"
    for path in (state, *state.rglob("*")):
        path.chmod(0o777)
    (folder / "closed").chmod(0)
    (folder / "open.txt").chmod(0)
    try:
        with without_rights():
            for path in ("closed/x.txt", "open.txt"):
                edit = {"old_string": "tide", "new_string": "ebb"}
                assert (await tools.refused("Read", file_path=path)).startswith("permission_denied: ")
                assert (await tools.refused("Edit", file_path=path, **edit)).startswith("permission_denied: ")
            assert "d/a.txt" in str(await tools.good("Glob", pattern="**/*.txt"))
            assert "d/a.txt" in str(await tools.good("Grep", pattern="old"))
        state.chmod(0)
        with without_rights():
            refused = await tools.refused("Edit", file_path="d/a.txt", old_string="old", new_string="new")
            assert refused.startswith("state_failed: ") and "Permission denied" in refused
    finally:
        (folder / "closed").chmod(0o755)
        state.chmod(0o755)
    assert (folder / "closed/x.txt").read_text() == "tide\n"
