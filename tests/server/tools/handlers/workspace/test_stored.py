"""What tools store for users may lie in a workspace, with the state folder: its tools do not read it."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files
from toolspan_server import FileStore, ToolStorage
from toolspan_server.engines.sandbox._choice import choice
from toolspan_server.engines.sandbox._reach import Reach
from toolspan_server.engines.sandbox._seatbelt import profile

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.4.13")]

confined = pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
STORED = "kept/storage/bob/c-1/notes.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with a state folder of another name in it, where something is stored for Bob."""
    made = write_files(tmp_path / "ws", {"a.txt": "secret of nobody", "kept/other.txt": "may be read"})
    ToolStorage("bob", "c-1", "notes", FileStore(made / "kept/storage")).set("a", "secret of bob")
    return made


@pytest.fixture
async def tools(folder: Path) -> AsyncGenerator[WorkspaceTools]:
    async with workspace_tools(folder, folder / "kept", change_config=True) as made:
        yield made


@pytest.mark.parametrize("way", ["path", "absolute", "link to file", "link to folder"])
async def test_it_is_not_read_by_any_path(tools: WorkspaceTools, folder: Path, way: str) -> None:
    (folder / "link.json").symlink_to(STORED)
    (folder / "inner").symlink_to("kept/storage")
    path = {
        "path": STORED,
        "absolute": str(folder / STORED),
        "link to file": "link.json",
        "link to folder": "inner/bob/c-1/notes.json",
    }[way]
    told = await tools.refused("Read", file_path=path)
    assert told.startswith("protected: ") and "is hidden: what tools store belongs to a user" in told
    assert "secret" not in told
    assert "secret of nobody" in str(await tools.good("Read", file_path="a.txt"))
    assert "may be read" in str(await tools.good("Read", file_path="kept/other.txt"))


async def test_it_is_not_found_by_searching(tools: WorkspaceTools, folder: Path) -> None:
    (folder / "inner").symlink_to("kept/storage")
    for path in (None, "kept", "kept/storage", "inner"):
        more = {} if path is None else {"path": path}
        for tool, pattern in (("Grep", "secret of"), ("Glob", "**/*.json")):
            result = await tools.result(tool, pattern=pattern, **more)
            assert "notes.json" not in str(result.result) and "bob" not in str(result.result)
    assert "a.txt" in str(await tools.good("Grep", pattern="secret of"))


async def test_it_is_not_changed_even_where_the_state_folder_may_be(
    tools: WorkspaceTools, folder: Path
) -> None:
    before = (folder / STORED).read_bytes()
    (folder / "inner").symlink_to("kept/storage")
    for path in (STORED, "inner/bob/c-1/notes.json", "kept/storage/bob/c-1/new.json"):
        assert not (await tools.result("Write", file_path=path, content="{}", force=True)).success
    assert (folder / STORED).read_bytes() == before
    assert not (folder / "kept/storage/bob/c-1/new.json").exists()
    await tools.good("Write", file_path="kept/new.txt", content="x")


@confined
async def test_a_confined_command_does_not_see_it(folder: Path) -> None:
    bash = {"bash": {"sandbox": "required"}}
    async with workspace_tools(folder, folder / "kept", **bash) as tools:
        ran = await tools.good(
            "Bash",
            command=f"cat {STORED}; ls -A kept/storage; touch kept/storage/x; cat kept/other.txt a.txt",
        )
    assert "secret of bob" not in str(ran) and "bob" not in str(ran).replace(STORED, "")
    assert "may be read" in str(ran) and "secret of nobody" in str(ran)
    assert not (folder / "kept/storage/x").exists()


def test_on_macos_the_profile_denies_it(tmp_path: Path) -> None:
    hidden = tmp_path / "ws/kept/storage"
    hidden.mkdir(parents=True)
    reach = Reach(tmp_path / "ws", tmp_path / "tmp", hidden=(hidden, tmp_path / "elsewhere"))
    assert f'(deny file-read* file-write* (subpath "{hidden}"))' in profile(reach)
    assert "elsewhere" not in profile(reach)
