"""What is written into a folder that came from somebody else never leaves it through a link there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.cli import toolspan
from toolspan_bridge.files.replacement import place_within

pytestmark = pytest.mark.requirement("I24.1.6")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    place = tmp_path / "outside"
    place.mkdir()
    (place / "own.json").write_text('{"mcpServers": {}}')
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "cloned"
    place.mkdir()
    return place


def assert_untouched(outside: Path) -> None:
    assert sorted(each.name for each in outside.iterdir()) == ["own.json"]
    assert (outside / "own.json").read_text() == '{"mcpServers": {}}'


@pytest.mark.parametrize("to", ["own.json", "new.json"])
@pytest.mark.parametrize(
    ("client", "link", "folder_too"),
    [("claude-code", ".mcp.json", False), ("vscode", ".vscode/mcp.json", False), ("vscode", ".vscode", True)],
)
def test_install_into_a_project_refuses_a_link_out_of_it(
    client: str, link: str, folder_too: bool, to: str, folder: Path, outside: Path
) -> None:
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(outside if folder_too else outside / to)
    ran = toolspan(
        "install", client, "--scope", "project", "--url", "http://127.0.0.1:1/mcp", "--yes", cwd=folder
    )
    assert ran.code == 2 and "leads out of" in ran.err and "remove the link" in ran.err
    assert_untouched(outside)


def test_install_follows_a_link_within_the_project(folder: Path) -> None:
    (folder / "shared.json").write_text("{}")
    (folder / ".mcp.json").symlink_to("shared.json")
    words = ("install", "claude-code", "--scope", "project", "--url", "http://127.0.0.1:1/mcp", "--yes")
    assert toolspan(*words, cwd=folder).code == 0
    assert "127.0.0.1" in json.dumps(json.loads((folder / "shared.json").read_text()))
    assert (folder / ".mcp.json").is_symlink()


def test_install_does_not_wait_for_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / ".mcp.json")
    words = ("install", "claude-code", "--scope", "project", "--url", "http://127.0.0.1:1/mcp", "--yes")
    ran = toolspan(*words, cwd=folder)
    assert ran.code == 2 and "not a regular file" in ran.err


@pytest.mark.parametrize("link", ["toolspan-demo", "toolspan-demo/toolspan.yaml", "toolspan-demo/docs"])
def test_demo_refuses_a_link_out_of_the_folder(link: str, folder: Path, outside: Path) -> None:
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(outside if link != "toolspan-demo/toolspan.yaml" else outside / "new")
    ran = toolspan("demo", cwd=folder)
    assert ran.code == 2 and "leads out of" in ran.err
    assert_untouched(outside)


def test_init_refuses_a_link_out_of_the_folder_unless_it_is_named(folder: Path, outside: Path) -> None:
    (folder / "toolspan.yaml").symlink_to(outside / "own.json")
    ran = toolspan("init", "--force", cwd=folder)
    assert ran.code == 2 and "leads out of" in ran.err
    assert_untouched(outside)
    assert toolspan("init", "--force", "-o", str(outside / "own.json"), cwd=folder).code == 0


def test_lock_refuses_a_link_out_of_the_folder(folder: Path, outside: Path) -> None:
    tool = "{name: a, description: Say a., implementation: {type: mock, mock_response: a}}"
    (folder / "toolspan.yaml").write_text(f"tools:\n  registry:\n    - {tool}\n")
    (folder / "toolspan.lock").symlink_to(outside / "new.lock")
    ran = toolspan("lock", cwd=folder)
    assert ran.code == 2 and "leads out of" in ran.err
    assert_untouched(outside)


def test_a_batch_is_not_saved_through_a_link_that_leads_nowhere_yet(folder: Path, outside: Path) -> None:
    (folder / "q.jsonl").write_text('{"id": "a", "question": "hi"}\n')
    (folder / "batch.json").symlink_to(outside / "new")
    ran = toolspan("batch", "submit", "q.jsonl", cwd=folder)
    assert ran.code == 2 and "is there already" in ran.err
    assert_untouched(outside)


def test_a_circle_of_links_and_a_pipe_are_refused(folder: Path) -> None:
    (folder / "round").symlink_to("round")
    os.mkfifo(folder / "pipe")
    for name, why in (("round", "circle"), ("pipe", "not a regular file"), ("../x", "leads out")):
        with pytest.raises(OSError, match=why):
            place_within(folder, Path(name))
    assert place_within(folder, Path("new/file")) == folder / "new" / "file"
