"""The menu at a limit, on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.workspace_chats import answer, chat, say, script
from tests.support.workspaces import write_files

pytestmark = [pytest.mark.requirement("I13.4.30"), pytest.mark.long]

READ = ("Read", {"file_path": "a.txt"})
LIST = ("Glob", {"pattern": "*"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return write_files(tmp_path, {"work/a.txt": "one\n"})


def notes(folder: Path) -> list[str]:
    import json

    [log] = (folder / "state").rglob("conversations/*.jsonl")
    found = [json.loads(line).get("note", {}) for line in log.read_text().splitlines()]
    return [note["choice"] for note in found if note.get("kind") == "limit"]


def test_at_a_limit_the_person_goes_on_with_more_or_without_it_wraps_up_or_stops(folder: Path) -> None:
    model = script(folder, READ, LIST, READ, "done", READ, LIST, "all", READ, "so far", READ)
    with chat(folder, model, "--max-calls", "1") as terminal:
        terminal.until("you>")
        terminal.type("Go\r")
        shown = terminal.until("at the limit?")
        assert "The limit of 1 tool calls for this question was reached." in shown
        assert "[n] a number more" in shown and "[w] wrap up" in shown
        answer(terminal, "x")  # no choice
        terminal.until("at the limit?")
        answer(terminal, "n")
        terminal.until("how many calls more?")
        answer(terminal, "\x7f1")  # the proposed number, corrected
        terminal.until("at the limit?")
        answer(terminal, "c")
        terminal.until("done")
        terminal.until("you>")
        terminal.type("Again\r")  # the choice was for one answer
        terminal.until("at the limit?")
        answer(terminal, "c")
        terminal.until("all")
        terminal.until("you>")
        terminal.type("Again\r")
        terminal.until("at the limit?")
        answer(terminal, "w")
        terminal.until("so far")
        terminal.until("you>")
        terminal.type("Again\r")
        terminal.until("at the limit?")
        answer(terminal, "s")
        terminal.until("you>")
        assert "total" not in say(terminal, "/limits calls=off")
    assert notes(folder) == [1.0, "unlimited", "unlimited", "wrap_up", "stop"]
