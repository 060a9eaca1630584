"""``/changes``, ``/undo`` and ``/todos``: what a conversation did in its folder, also after a restart."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.terminal import Terminal
from tests.support.workspace_chats import chat, say, script
from tests.support.workspaces import write_files

pytestmark = [pytest.mark.requirement("I12.3.45"), pytest.mark.long]

EDIT = ("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "two"})
WRITE = ("Write", {"file_path": "b.txt", "content": "b\n"})
TODOS = [
    {"content": "Read", "status": "completed"},
    {"content": "Write", "status": "in_progress", "activeForm": "Writing"},
    {"content": "Te\x1b[2Jst", "status": "pending"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return write_files(tmp_path, {"work/a.txt": "one\n"})


def test_changes_are_shown_and_undone_also_after_a_restart(folder: Path) -> None:
    text = folder / "work" / "a.txt"
    read = ("Read", {"file_path": "a.txt"})
    with chat(folder, script(folder, read, EDIT, WRITE, "done"), "--approval", "never") as terminal:
        terminal.until("you>")
        assert "nothing was changed" in say(terminal, "/changes")
        say(terminal, "Go")
        shown = say(terminal, "/changes")
        assert "a.txt: changed" in shown and "-one" in shown and "+two" in shown
        assert "b.txt: created" in shown
        assert "a.txt" not in say(terminal, "/changes b.txt")
    with chat(folder, script(folder, "hm")) as terminal:
        terminal.until("you>")
        assert "b.txt: undone" in say(terminal, "/undo")
        assert text.read_text() == "two\n"
        assert "a.txt: undone" in say(terminal, "/undo all")
        assert text.read_text() == "one\n"
        assert "there is nothing to undo" in say(terminal, "/undo a.txt")
        assert "outside of the workspace" in say(terminal, "/undo ../x")


def test_a_file_that_was_changed_by_hand_is_not_undone(folder: Path) -> None:
    with chat(folder, script(folder, WRITE, "done"), "--approval", "never") as terminal:
        terminal.until("you>")
        say(terminal, "Go")
        (folder / "work" / "b.txt").write_text("by hand\n")
        assert "b.txt: not undone: the file was changed since" in say(terminal, "/undo")
    assert (folder / "work" / "b.txt").read_text() == "by hand\n"


@pytest.mark.requirement("I12.3.40")
def test_the_list_of_tasks_is_shown_as_it_changes_and_when_it_is_asked_for(folder: Path) -> None:
    with chat(folder, script(folder, ("TodoWrite", {"todos": TODOS}), "done")) as terminal:
        terminal.until("you>")
        shown = say(terminal, "Go")
        for line in ("1 of 3 tasks done", "  [x] Read", "  [>] Writing", r"  [ ] Te\x1b[2Jst"):
            assert line in shown
        assert "  [>] Writing" in say(terminal, "/todos")
        assert "there are no tasks" in say(terminal, "/new", "/todos")


def test_without_a_workspace_the_commands_say_so(folder: Path) -> None:
    with Terminal("chat", "-m", script(folder, "hm"), cwd=folder) as terminal:
        terminal.until("you>")
        assert "there is no workspace: start with --workspace DIR" in say(terminal, "/changes")


def test_models_are_not_shown_the_tools_of_people(folder: Path) -> None:
    model = script(folder, ("Undo", {"all": True}), "done")
    done = toolspan("ask", "Go", "-m", model, "--workspace", "work", "--approval", "never", cwd=folder)
    assert "Tool 'Undo' not found" in done.err
