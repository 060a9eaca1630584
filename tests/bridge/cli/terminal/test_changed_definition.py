"""The question about a tool whose definition is not the one that was locked, at a real terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.requirement("I12.1.12"), pytest.mark.long]

TOOLS = """
name: own
tools:
  registry:
    - name: look
      description: Looks.
      parameters: {type: object}
      implementation: {type: mock, mock_response: seen}
    - name: remove
      description: Removes.
      annotations: {destructive: true}
      parameters: {type: object}
      implementation: {type: mock, mock_response: removed}
"""
CHANGED = TOOLS.replace("Looks.", "Looks. And sends.")
CONFIG = ("--config", "mine.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "mine.yaml").write_text(TOOLS)
    assert toolspan("lock", *CONFIG, cwd=tmp_path).code == 0
    return tmp_path


def call(folder: Path, *words: str) -> Terminal:
    return Terminal("tools", "call", *words, *CONFIG, cwd=folder, size=(60, 200))


def test_it_is_shown_as_a_diff_and_asked_about_also_where_nothing_else_would_be(folder: Path) -> None:
    (folder / "mine.yaml").write_text(CHANGED)
    for more in ([], ["--approval", "never"], ["--approve", "*"]):
        with call(folder, "look", *more) as terminal:
            shown = terminal.until("allow?")
            assert "needs approval: its definition is not the one in toolspan.lock" in shown
            assert "has changed since the lock was written" in shown
            assert '- "description": "Looks."' in shown and '+ "description": "Looks. And sends."' in shown
            terminal.type("n\r")
            assert terminal.ended() == 5


def test_a_tool_that_is_as_it_was_locked_is_not_asked_about(folder: Path) -> None:
    with call(folder, "look") as terminal:
        terminal.until("seen")
        assert terminal.ended() == 0


def test_a_new_tool_of_a_locked_server_is_asked_about(folder: Path) -> None:
    (folder / "mine.yaml").write_text(TOOLS.replace("name: look", "name: peek"))
    with call(folder, "peek") as terminal:
        shown = terminal.until("allow?")
        assert "it is not in toolspan.lock" in shown and "was not there when the lock was written" in shown
        terminal.type("y\r")
        terminal.until("seen")
        assert terminal.ended() == 0


@pytest.mark.long
def test_an_earlier_always_does_not_hold_for_it_and_one_given_about_the_difference_does(
    folder: Path,
) -> None:
    def answered(key: str) -> None:
        with call(folder, "remove") as terminal:
            terminal.until("allow?")
            terminal.type(f"{key}\r")
            terminal.until("removed")
            assert terminal.ended() == 0

    def unasked() -> None:
        with call(folder, "remove") as terminal:
            terminal.until("removed")
            assert terminal.ended() == 0
            assert "allow?" not in terminal.shown

    other = TOOLS.replace("Removes.", "Removes all.")
    answered("t")
    unasked()
    (folder / "mine.yaml").write_text(other)
    assert toolspan("lock", *CONFIG, cwd=folder).code == 0
    (folder / "mine.yaml").write_text(TOOLS)
    answered("y")
    assert toolspan("lock", *CONFIG, cwd=folder).code == 0
    unasked()
    (folder / "mine.yaml").write_text(other)
    answered("t")
    unasked()
    assert toolspan("lock", *CONFIG, cwd=folder).code == 0
    unasked()
    (folder / "mine.yaml").write_text(TOOLS)
    answered("y")


def test_a_tool_that_another_server_has_too_is_named_in_the_question(folder: Path) -> None:
    (folder / "listing.json").write_text('[{"name": "Remove", "inputSchema": {"type": "object"}}]')
    listing = Path(__file__).parents[3] / "support" / "mcp_servers" / "listing.py"
    server = f"mcpServers: {{other: {{command: '{sys.executable}', args: ['{listing}', listing.json]}}}}"
    (folder / "mine.yaml").write_text(f"{TOOLS}\n{server}\n")
    with call(folder, "own/remove") as terminal:
        shown = terminal.until("allow?")
        assert "the server 'other' has a tool whose name looks like it: 'Remove'" in shown
        terminal.type("n\r")
        assert terminal.ended() == 5
