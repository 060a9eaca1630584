"""``Write``: whole files, at once or not at all, and only over what was read."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.support.waiting import BOUND_S
from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files
from toolspan_server import load_config, running
from toolspan_server.engines.sandbox._choice import choice

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.5")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", {"a.txt": "old\n"})


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder, limits={"file_bytes": 1_000}) as found:
        yield found


async def test_a_new_file_is_made_with_its_folders(tools: WorkspaceTools, folder: Path) -> None:
    done = await tools.good("Write", file_path="new/deep/b.txt", content="1\n2\n")
    assert (folder / "new" / "deep" / "b.txt").read_bytes() == b"1\n2\n"
    assert done == {
        "file_path": "new/deep/b.txt",
        "created": True,
        "bytes": 4,
        "diff": "--- new/deep/b.txt\n+++ new/deep/b.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n",
    }


async def test_a_file_is_overwritten_once_it_was_read_and_keeps_its_mode(
    tools: WorkspaceTools, folder: Path
) -> None:
    (folder / "a.txt").chmod(0o754)
    refused = await tools.refused("Write", file_path="a.txt", content="new\n")
    assert refused == "not_read: a.txt exists and was not read in this conversation"
    await tools.good("Read", file_path="a.txt")
    done = await tools.good("Write", file_path="a.txt", content="new\n")
    assert "-old\n+new\n" in done["diff"]
    assert (folder / "a.txt").read_text() == "new\n"
    assert (folder / "a.txt").stat().st_mode & 0o777 == 0o754
    assert (await tools.good("Write", file_path="a.txt", content="again\n"))["created"] is False


async def test_what_one_conversation_read_another_did_not(tools: WorkspaceTools) -> None:
    await tools.good("Read", "one", file_path="a.txt")
    assert (await tools.refused("Write", "two", file_path="a.txt", content="x")).startswith("not_read")
    await tools.good("Write", "one", file_path="a.txt", content="x")


async def test_a_file_that_changed_since_it_was_read_is_left_as_it_is(
    tools: WorkspaceTools, folder: Path
) -> None:
    await tools.good("Read", file_path="a.txt")
    (folder / "a.txt").write_text("theirs\n")
    refused = await tools.refused("Write", file_path="a.txt", content="mine\n")
    assert refused.startswith("changed_since_read: ")
    assert (folder / "a.txt").read_text() == "theirs\n"
    await tools.good("Write", file_path="a.txt", content="mine\n", force=True)
    assert (folder / "a.txt").read_text() == "mine\n"


async def test_the_encoding_and_the_ends_of_lines_of_a_file_stay(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"w.txt": "ä\r\nb\r\n".encode("utf-16")})
    await tools.good("Write", file_path="w.txt", content="ö\nc\n", force=True)
    assert (folder / "w.txt").read_bytes() == "ö\r\nc\r\n".encode("utf-16")


async def test_a_character_that_the_encoding_lacks_is_an_error(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"l.txt": b"caf\xe9\n"})
    refused = await tools.refused("Write", file_path="l.txt", content="日本\n", force=True)
    assert refused.startswith("encoding_error: l.txt: '日' cannot be written in latin-1")
    assert (folder / "l.txt").read_bytes() == b"caf\xe9\n"


def linked(folder: Path) -> None:
    (folder / "x").symlink_to("a.txt")


def linked_outside(folder: Path) -> None:
    write_files(folder.parent, {"out.txt": "old\n"})
    (folder / "x").symlink_to("../out.txt")


def linked_hard(folder: Path) -> None:
    write_files(folder.parent, {"out.txt": "old\n"})
    (folder / "x").hardlink_to(folder.parent / "out.txt")


def read_only(folder: Path) -> None:
    write_files(folder, {"x": "old\n"})
    (folder / "x").chmod(0o444)


def is_folder(folder: Path) -> None:
    (folder / "x").mkdir()


def is_fifo(folder: Path) -> None:
    os.mkfifo(folder / "x")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (linked, "symbolic_link"),
        (linked_outside, "symbolic_link"),
        (linked_hard, "hard_link"),
        (read_only, "permission_denied"),
        (is_fifo, "not_a_file"),
        (is_folder, "not_a_file"),
    ],
    ids=["link", "link outside", "hard link", "read-only", "fifo", "folder"],
)
async def test_what_is_no_plain_writable_file_is_not_written(
    tools: WorkspaceTools, folder: Path, make: Any, code: str
) -> None:
    make(folder)
    refused = await tools.refused("Write", file_path="x", content="new\n", force=True)
    assert refused.startswith(f"{code}: ")
    assert (folder / "a.txt").read_text() == "old\n"
    assert not (folder.parent / "out.txt").exists() or (folder.parent / "out.txt").read_text() == "old\n"


async def test_a_folder_behind_a_link_that_leads_out_is_not_written_to(
    tools: WorkspaceTools, folder: Path
) -> None:
    (folder.parent / "outside").mkdir()
    (folder / "door").symlink_to("../outside")
    refused = await tools.refused("Write", file_path="door/new.txt", content="x")
    assert refused.startswith("outside_workspace: ")
    assert not (folder.parent / "outside" / "new.txt").exists()


@pytest.mark.parametrize(
    "path",
    [".git/hooks/pre-commit", "sub/.GIT/config", "gate/hooks/x", ".toolspan/x", "toolspan.yaml", "state/x"],
)
async def test_the_config_its_state_and_git_are_protected_also_behind_links(folder: Path, path: str) -> None:
    write_files(folder, {".git/hooks/h": "", ".toolspan/s": "", "toolspan.yaml": CONFIG})
    (folder / "gate").symlink_to(".git")
    (folder / "state").symlink_to(".toolspan")
    async with running(load_config(folder / "toolspan.yaml")) as runtime:
        await runtime.settled()
        tools = WorkspaceTools(runtime)
        refused = await tools.refused("Write", file_path=path, content="x", force=True)
        assert refused.startswith("protected: ")
        assert "protected" not in (await tools.result("Read", file_path="toolspan.yaml")).error


CONFIG = """
services: {workspaces: {main: {path: .}}}
tools: {sources: [{type: workspace, workspace: main, approval: false}]}
"""


RUNS = """
handlers: [tools.py, pack.more]
hooks: [{point: before_call, python: "guard.py:check"}]
mcpServers:
  one: {command: sh, args: [srv.sh]}
  two: {command: python3, args: [-m, app.serve], cwd: servers}
"""
RUN_FILES = ["tools.py", "pack/more.py", "pack/__init__.py", "guard.py", "srv.sh", "servers/app/serve.py"]


@pytest.fixture
def running_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return write_files(folder, {**dict.fromkeys(RUN_FILES, "x = 1\n"), "toolspan.yaml": CONFIG + RUNS})


@pytest.mark.requirement("I24.6.2")
@pytest.mark.parametrize("name", RUN_FILES)
async def test_what_the_config_has_toolspan_run_is_protected_as_the_config_is(
    running_folder: Path, name: str
) -> None:
    async with running(load_config(running_folder / "toolspan.yaml", import_handlers=False)) as runtime:
        tools = WorkspaceTools(runtime)
        refused = await tools.refused("Write", file_path=name, content="evil", force=True)
        assert refused.startswith("protected: ")
        await tools.good("Write", file_path="servers/app/data.txt", content="x")


@pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="there is no sandbox here"
)
@pytest.mark.requirement("I24.6.2")
async def test_no_command_changes_what_the_config_has_toolspan_run(running_folder: Path) -> None:
    async with running(load_config(running_folder / "toolspan.yaml", import_handlers=False)) as runtime:
        tools = WorkspaceTools(runtime)
        text = "; ".join(f"echo evil > {name}; rm -f {name}; echo evil > {name}" for name in RUN_FILES)
        await tools.good("Bash", command=f"{text}; mv pack moved; mv servers moved; echo x > new; true")
    assert {(running_folder / name).read_text() for name in RUN_FILES} == {"x = 1\n"}
    assert (running_folder / "new").exists()


async def test_a_config_that_says_so_lets_itself_be_changed(folder: Path) -> None:
    state = folder / ".toolspan"
    async with workspace_tools(folder, state, change_config=True, protected=[]) as tools:
        await tools.good("Write", file_path=".git/config", content="x")
        await tools.good("Write", file_path=".toolspan/x", content="x")


async def test_a_further_root_is_written_to_only_where_the_config_says_so(folder: Path) -> None:
    (folder.parent / "one").mkdir()
    (folder.parent / "two").mkdir()
    roots = [{"path": str(folder.parent / "one")}, {"path": str(folder.parent / "two"), "writable": True}]
    async with workspace_tools(folder, roots=roots) as tools:
        path = str(folder.parent / "one" / "x")
        assert (await tools.refused("Write", file_path=path, content="x")).startswith("protected: ")
        done = await tools.good("Write", file_path=str(folder.parent / "two" / "x"), content="x")
        assert done["file_path"] == str(folder.parent / "two" / "x")
        assert (folder.parent / "two" / "x").read_text() == "x"


async def test_a_text_beyond_the_limit_is_refused_by_its_name(tools: WorkspaceTools, folder: Path) -> None:
    refused = await tools.refused("Write", file_path="b.txt", content="x" * 1_001)
    assert refused == "too_large: b.txt has 1,001 bytes, more than limits.file_bytes (1,000)"
    assert not (folder / "b.txt").exists()


@pytest.mark.parametrize("failing", ["write", "rename", "fsync"])
async def test_a_full_disk_loses_nothing_and_leaves_nothing(
    tools: WorkspaceTools, folder: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tools.good("Read", file_path="a.txt")

    def full(*_args: Any, **_more: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, full)
        refused = await tools.refused("Write", file_path="a.txt", content="new\n")
    assert refused == "disk_full: a.txt was not written: the disk is full"
    assert (await tools.good("Glob", pattern="*"))["files"] == ["a.txt"]
    assert (folder / "a.txt").read_text() == "old\n"
    assert await tools.good("Changes") == {"files": []}


@pytest.mark.requirement("I12.3.46")
async def test_what_was_read_is_known_after_a_restart_and_in_another_process_of_the_server(
    folder: Path,
) -> None:
    async with workspace_tools(folder) as first:
        await first.good("Read", "c", file_path="a.txt")
        async with workspace_tools(folder) as second:
            refused = await second.refused("Write", "other", file_path="a.txt", content="new\n")
            assert refused.startswith("not_read: ")
            await second.good("Write", "c", file_path="a.txt", content="new\n")
        await first.good("Write", "c", file_path="a.txt", content="newer\n")
    async with workspace_tools(folder) as later:
        (folder / "a.txt").write_text("by hand\n")
        refused = await later.refused("Write", "c", file_path="a.txt", content="x")
        assert refused.startswith("changed_since_read: ")


@pytest.mark.requirement("I12.3.46")
async def test_a_file_is_read_also_where_that_cannot_be_noted_and_then_known_to_the_server(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state = folder.parent / "state"
    async with workspace_tools(folder, state) as tools:
        database = state / "workspaces" / "main.sqlite3"
        database.mkdir(parents=True)
        assert "old" in await tools.good("Read", file_path="a.txt")
        assert "kept in memory only" in caplog.text
        database.rmdir()
        await tools.good("Write", file_path="a.txt", content="new\n")


@pytest.mark.requirement("I24.6.8")
async def test_what_a_killed_server_left_of_a_change_is_removed_at_the_next_start(folder: Path) -> None:
    write_files(folder, {"sub/deep/a.txt": "a", "other/b.txt": "b"})
    async with workspace_tools(folder) as tools:
        await tools.good("Write", file_path="sub/deep/a.txt", content="new", force=True)
    left = [folder / place / ".toolspan-0123456789abcdef.tmp" for place in (".", "sub/deep")]
    kept = [folder / "other" / ".toolspan-0123456789abcdef.tmp", folder / "sub/deep/.toolspan-mine.tmp"]
    for path in (*left, *kept):
        path.write_text("half")
    kept[0].unlink()
    kept[0].mkdir()
    link = folder / ".toolspan-fedcba9876543210.tmp"
    link.symlink_to("other/b.txt")
    async with workspace_tools(folder):
        await until_gone(left)
    assert all(path.exists() for path in (*kept, link))


async def until_gone(paths: list[Path]) -> None:
    with anyio.fail_after(BOUND_S):
        while any(path.exists() for path in paths):
            await anyio.lowlevel.checkpoint()


@pytest.mark.requirement("I24.6.8")
async def test_the_file_of_a_change_that_another_process_makes_stays(folder: Path) -> None:
    import fcntl

    write_files(folder, {"sub/a.txt": "a"})
    async with workspace_tools(folder) as tools:
        await tools.good("Write", file_path="sub/a.txt", content="new", force=True)
    live, dead = (folder / place / ".toolspan-0123456789abcdef.tmp" for place in ("sub", "."))
    live.write_text("half")
    dead.write_text("half")
    descriptor = os.open(folder / "sub", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        async with workspace_tools(folder):
            await until_gone([dead])
    finally:
        os.close(descriptor)
    assert live.exists()
