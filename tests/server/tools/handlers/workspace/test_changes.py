"""What a conversation changed is listed with diffs and undone, also by another process, later."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.served import call
from tests.support.workspaces import WorkspaceTools, answers_of, workspace_tools, write_files
from toolspan_server.calls.caller import Origin

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.10")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", {"a.txt": "one\n", "b.txt": "b\n"})


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder) as found:
        yield found


async def changed(tools: WorkspaceTools, conversation: str | None = None) -> None:
    """Edit ``a.txt`` twice, and make ``new.txt``."""
    await tools.good("Read", conversation, file_path="a.txt")
    await tools.good("Edit", conversation, file_path="a.txt", old_string="one", new_string="two")
    await tools.good("Write", conversation, file_path="new.txt", content="new\n")
    await tools.good("Edit", conversation, file_path="a.txt", old_string="two", new_string="three")


def statuses(listed: Any) -> dict[str, str]:
    return {each["file_path"]: each["status"] for each in listed["files"]}


async def test_changes_are_listed_by_file_with_the_whole_difference(tools: WorkspaceTools) -> None:
    await changed(tools)
    listed = await tools.good("Changes")
    assert statuses(listed) == {"a.txt": "changed", "new.txt": "created"}
    first, second = listed["files"]
    assert [each["tool"] for each in first["changes"]] == ["Edit", "Edit"]
    assert first["diff"] == "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+three\n"
    assert second["diff"].endswith("+new\n")
    [only] = (await tools.good("Changes", file_path="new.txt", diffs=False))["files"]
    assert (only["file_path"], "diff" in only) == ("new.txt", False)


async def test_the_last_change_is_undone_then_the_one_before(tools: WorkspaceTools, folder: Path) -> None:
    await changed(tools)
    (folder / "a.txt").chmod(0o640)
    for expected in ("two\n", "two\n", "one\n"):
        [undone] = (await tools.good("Undo"))["undone"]
        assert (folder / "a.txt").read_text() == expected
    assert undone["file_path"] == "a.txt"
    assert not (folder / "new.txt").exists()
    assert await tools.good("Undo") == {"undone": [], "kept": []}
    assert (folder / "a.txt").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ({"all": True}, {"a.txt": "one\n"}),
        ({"file_path": "a.txt"}, {"a.txt": "one\n", "new.txt": "new\n"}),
        ({"file_path": "new.txt"}, {"a.txt": "three\n"}),
        ({"id": 2}, {"a.txt": "two\n"}),
    ],
)
async def test_all_some_or_those_of_a_file_are_undone(
    tools: WorkspaceTools, folder: Path, arguments: dict[str, Any], left: dict[str, str]
) -> None:
    await changed(tools)
    assert (await tools.good("Undo", **arguments))["kept"] == []
    assert {
        name: (folder / name).read_text() for name in ("a.txt", "new.txt") if (folder / name).exists()
    } == left


async def test_what_was_changed_by_something_else_is_left_alone(tools: WorkspaceTools, folder: Path) -> None:
    await changed(tools)
    (folder / "a.txt").write_text("by hand\n")
    outcome = await tools.good("Undo", all=True)
    assert [each["file_path"] for each in outcome["undone"]] == ["new.txt"]
    assert [each["why"] for each in outcome["kept"]] == [
        "the file was changed since, by something else",
        "a later change of the file was not undone",
    ]
    assert (folder / "a.txt").read_text() == "by hand\n"
    assert statuses(await tools.good("Changes")) == {"a.txt": "changed"}


async def test_a_file_that_was_undone_has_to_be_read_again(tools: WorkspaceTools) -> None:
    await changed(tools)
    await tools.good("Undo", all=True)
    change = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
    assert (await tools.refused("Edit", **change)).startswith("changed_since_read: ")


async def test_conversations_and_users_have_their_own_changes(tools: WorkspaceTools, folder: Path) -> None:
    await changed(tools, "mine")
    assert await tools.good("Changes", "yours") == {"files": []}
    assert await tools.good("Undo", "yours", all=True) == {"undone": [], "kept": []}
    assert await tools.of(Origin("token eve")).good("Changes", "mine") == {"files": []}
    assert statuses(await tools.good("Changes", "mine")) == {"a.txt": "changed", "new.txt": "created"}


async def test_after_a_restart_changes_are_still_there(folder: Path) -> None:
    async with workspace_tools(folder) as tools:
        await changed(tools, "c-1")
    async with workspace_tools(folder) as tools:
        await tools.good("Undo", "c-1", all=True)
    assert (folder / "a.txt").read_text() == "one\n"
    assert not (folder / "new.txt").exists()


def test_another_program_lists_and_undoes_by_the_same_state(folder: Path) -> None:
    config = folder / "toolspan.yaml"
    config.write_text(
        "services: {workspaces: {main: {path: .}}}\n"
        "tools: {sources: [{type: workspace, workspace: main, approval: false}]}\n"
    )
    made = answers_of(folder, ["--config", config], call(1, "Write", {"file_path": "c.txt", "content": "c"}))
    assert made[1]["result"]["isError"] is False
    listed = answers_of(folder, ["--config", config], call(1, "Changes", {}))
    assert statuses(listed[1]["result"]["structuredContent"]) == {"c.txt": "created"}
    answers_of(folder, ["--config", config], call(1, "Undo", {}))
    assert not (folder / "c.txt").exists()


@pytest.mark.parametrize(
    ("limits", "kept"),
    [({"checkpoints": 3}, 3), ({"checkpoint_bytes": 1_000}, 2), ({"checkpoint_bytes": 1}, 1)],
)
async def test_only_so_much_is_kept(folder: Path, limits: dict[str, int], kept: int) -> None:
    async with workspace_tools(folder, limits=limits) as tools:
        for number in range(6):
            await tools.good("Write", file_path="a.txt", content=f"{number}" * 450, force=True)
        [listed] = (await tools.good("Changes"))["files"]
        assert len(listed["changes"]) == kept
        assert "5" * 450 in listed["diff"]


async def test_without_a_place_for_checkpoints_nothing_is_changed(folder: Path) -> None:
    state = folder.parent / "state"
    write_files(state, {"workspaces": "a file in the way"})
    async with workspace_tools(folder) as tools:
        await tools.good("Read", file_path="a.txt")
        refused = await tools.refused("Write", file_path="a.txt", content="x")
        assert refused.startswith("checkpoint_failed: ")
    assert (folder / "a.txt").read_text() == "one\n"


async def test_checkpoints_are_for_their_owner_alone(tools: WorkspaceTools, folder: Path) -> None:
    await changed(tools)
    path = folder.parent / "state" / "workspaces" / "main.sqlite3"
    assert path.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM changes").fetchone() == (3,)
