"""Plan mode in a chat: nothing is changed by any server's tool until the person approves the plan."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.workspace_chats import SAVED, chat, results, say, script
from tests.support.workspaces import write_files
from toolspan_bridge.conversation import Conversation

pytestmark = [pytest.mark.requirement("I12.3.43"), pytest.mark.long]

CTRL_D = "\x04"
WRITE = ("Write", {"file_path": "new.txt", "content": "new\n"})
PLAN = ("ExitPlanMode", {"plan": "1. Write new.txt\n2. Be done"})
OTHER = """
name: other
tools:
  registry:
    - name: note
      description: Notes.
      parameters: {type: object}
      implementation: {type: builtin, handler: echo}
    - name: look
      description: Looks.
      annotations: {read_only: true}
      parameters: {type: object}
      implementation: {type: builtin, handler: echo}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    write_files(tmp_path, {"work/a.txt": "one\n", "other.yaml": OTHER})
    return tmp_path


def codes(folder: Path) -> list[str]:
    return [str(result.get("error_code", "")) for result in results(folder)]


def test_an_approved_plan_that_accepts_edits_lets_files_be_written_without_a_question(folder: Path) -> None:
    model = script(folder, ("EnterPlanMode", {}), WRITE, PLAN, WRITE, "written")
    with chat(folder, model) as terminal:
        terminal.until("you>")
        terminal.type("Go\r")
        shown = terminal.until("leave plan mode with it?")
        assert "  1. Write new.txt" in shown
        terminal.type("a\r")
        assert "allow?" not in terminal.until("written")
        terminal.until("you>")
    assert codes(folder) == ["", "plan_mode", "", ""]
    assert (folder / "work" / "new.txt").read_text() == "new\n"


def test_a_plain_yes_leaves_each_write_to_be_asked_about(folder: Path) -> None:
    with chat(folder, script(folder, ("EnterPlanMode", {}), PLAN, WRITE, "end")) as terminal:
        terminal.until("you>")
        terminal.type("Go\r")
        terminal.until("leave plan mode with it?")
        terminal.type("y\r")
        terminal.until("allow?")
        terminal.type("n\r")
        terminal.until("end")
        terminal.until("you>")
    assert codes(folder) == ["", "", "denied"]


def test_a_no_with_a_reason_keeps_the_mode_also_after_a_restart_until_plan_off(folder: Path) -> None:
    with chat(folder, script(folder, PLAN, "hm")) as terminal:
        terminal.until("you>")
        assert "only tools that read" in say(terminal, "/plan", prompt="plan>")
        terminal.type("Go\r")
        terminal.until("leave plan mode with it?")
        terminal.type("r\r")
        terminal.until("for the model:")
        terminal.type("name the tests\r")
        terminal.until("hm")
        terminal.until("plan>")
    assert "plan mode goes on: the person says: name the tests" in results(folder)[-1]["error"]
    with chat(folder, script(folder, WRITE, "still planning", WRITE, "end")) as terminal:
        terminal.until("plan>")
        say(terminal, "Write it", prompt="plan>")
        assert results(folder)[-1]["error_code"] == "plan_mode"
        assert "plan mode is off" in say(terminal, "/plan off")
        terminal.type("Now write\r")
        terminal.until("allow?")
        terminal.type("y\r")
        terminal.until("end")
        terminal.until("you>")
    assert (folder / "work" / "new.txt").exists()


def test_in_plan_mode_the_model_is_told_so_and_every_servers_tools_are_held_to_it(folder: Path) -> None:
    model = script(folder, [("note", {}), ("look", {}), ("Read", {"file_path": "a.txt"})], "end")
    with chat(folder, model, "--config", "other.yaml") as terminal:
        terminal.until("you>")
        say(terminal, "/plan", "Look around", prompt="plan>")
    assert codes(folder) == ["plan_mode", "", ""]
    told = json.loads((folder / SAVED).read_text())["beginnings"][f"scripted/{model.partition('/')[2]}"]
    assert "Plan mode is on" in told["system"]
    assert Conversation.load(folder / SAVED).plan_mode is True


@pytest.mark.parametrize(("flags", "code"), [((), "plan_not_approved"), (("--approve", "ExitPlanMode"), "")])
def test_without_a_terminal_a_plan_is_approved_only_by_its_flag(
    folder: Path, flags: tuple[str, ...], code: str
) -> None:
    model = script(folder, ("EnterPlanMode", {}), PLAN, "end")
    done = toolspan("ask", "Go", "-m", model, "--workspace", "work", "--json", *flags, cwd=folder)
    last = done.json["tool_calls"][-1]["result"]
    assert last.get("error_code", "") == code
    if code:
        assert "nobody to ask here (allow it with --approve ExitPlanMode)" in last["error"]


def test_the_tools_of_a_config_without_a_name_are_held_to_it_too(folder: Path) -> None:
    own = {"services": {"workspaces": {"w": {"path": "work"}}}}
    own |= {"tools": {"sources": [{"type": "workspace", "workspace": "w", "prefix": "w_"}]}}
    (folder / "own.json").write_text(json.dumps(own))
    write = ("w_Write", WRITE[1])
    task = ("w_Task", {"description": "d", "prompt": "p", "tools": ["w_Write"]})
    turns = [("w_EnterPlanMode", {}), write, task, write, "refused", "end"]
    options = ("-m", script(folder, *turns), "--config", "own.json", "--approval", "never", "--json")
    calls = toolspan("ask", "Go", *options, cwd=folder).json["tool_calls"]
    assert [use["result"].get("error_code") for use in calls] == [None, "plan_mode", None]
    assert not (folder / "work" / "new.txt").exists()
