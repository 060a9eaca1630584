"""Sub-agents: the same loop with fewer tools, within limits, whose work is not the parent's history."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.workspace_chats import SAVED, chat, results, say, script
from tests.support.workspaces import write_files
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import Assistant

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.3.44")]

CTRL_C = "\x03"
READ = ("Read", {"file_path": "a.txt"})
WRITE = ("Write", {"file_path": "new.txt", "content": "new\n"})


def task(prompt: str = "Find one.", **more: Any) -> tuple[str, dict[str, Any]]:
    return ("Task", {"description": "look around", "prompt": prompt, **more})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return write_files(tmp_path, {"work/a.txt": "one\n"})


def asked(folder: Path, model: str, *options: str, limits: dict[str, Any] | None = None) -> Any:
    """What ``ask`` prints as JSON, with ``limits`` of sub-agents in the config."""
    if limits:
        (folder / "c.yaml").write_text(yaml.safe_dump({"limits": {"subagents": limits}}))
        options = (*options, "--config", "c.yaml")
    ran = toolspan("ask", "Go", "-m", model, "--workspace", "work", "--json", *options, cwd=folder)
    assert ran.code == 0, ran.err
    return ran.json


def last(answer: Any) -> Any:
    return answer["tool_calls"][-1]["result"]


def test_only_the_answer_of_a_sub_agent_comes_back_and_its_work_is_shown_and_kept(folder: Path) -> None:
    with chat(folder, script(folder, task(), READ, "in a.txt, line 1", "It is there.")) as terminal:
        terminal.until("you>")
        shown = say(terminal, "Where?")
    assert "  [look around] → Read(file_path=a.txt)" in shown
    [result] = results(folder)
    path = Path(result["result"].pop("conversation"))
    assert result["result"] == {"answer": "in a.txt, line 1", "calls": 1, "iterations": 2}
    assert "Find one." not in str(Conversation.load(folder / SAVED).messages[0])
    kept = Conversation.load(folder / path).messages
    assert [message.text for message in kept if isinstance(message, Assistant)] == ["", "in a.txt, line 1"]


def test_beside_a_conversation_that_is_saved_by_itself_it_is_saved_and_removed_with_it(folder: Path) -> None:
    answer = asked(folder, script(folder, task(), "found", "end"))
    kept = folder / last(answer)["result"]["conversation"]
    assert Conversation.load(kept).messages
    assert toolspan("conversations", "delete", answer["conversation"][:8], "--yes", cwd=folder).code == 0
    assert not kept.parent.exists()
    unsaved = asked(folder, script(folder, task(), "found", "end"), "--no-save")
    assert "conversation" not in last(unsaved)["result"]


@pytest.mark.requirement("I12.4.55", "I12.4.57")
def test_its_work_is_shown_below_its_call_and_not_done_again_by_a_replay(folder: Path) -> None:
    answer = asked(folder, script(folder, task(), READ, "found it", "end"))
    name = answer["conversation"]
    shown = toolspan("conversations", "show", name, cwd=folder).out.splitlines()
    call = next(place for place, line in enumerate(shown) if line.startswith("→ Task("))
    assert shown[call + 1].startswith('← {"answer": "found it"')
    below = ["[1] you> Find one.", "→ Read(file_path=a.txt)"]
    assert [line.strip() for line in shown[call + 2 : call + 4]] == below
    assert shown[call + 5].endswith("> found it") and shown[call + 6].endswith("> end")
    data = toolspan("conversations", "show", name, "--json", cwd=folder).json
    assert [len(each["messages"]) for each in data["subagents"]] == [4]
    live = ("--live-tools", "--workspace", "work")
    replayed = toolspan("conversations", "replay", name, *live, cwd=folder)
    assert replayed.out.splitlines()[1:] == [
        "    Task: as recorded; not called, as it needs a model or a person",
        "questions: 1, calls: 1, differences: 0",
    ]


def test_without_a_say_so_a_sub_agent_has_only_tools_that_read(folder: Path) -> None:
    answer = asked(folder, script(folder, task(), WRITE, "could not", "end"), "--approval", "never")
    assert last(answer)["result"]["answer"] == "could not"
    assert not (folder / "work" / "new.txt").exists()


def test_its_calls_are_asked_about_in_its_name_and_undone_with_the_conversation(folder: Path) -> None:
    with chat(folder, script(folder, task(tools=["Write", "R*"]), WRITE, "written", "end")) as terminal:
        terminal.until("you>")
        terminal.type("Go\r")
        assert "; the sub-agent 'look around' makes the call" in terminal.until("allow?")
        terminal.type("y\r")
        terminal.until("end")
        terminal.until("you>")
        assert (folder / "work" / "new.txt").exists()
        assert "new.txt: undone" in say(terminal, "/undo")


def test_without_anybody_to_ask_its_calls_are_denied(folder: Path) -> None:
    answer = asked(folder, script(folder, task(tools=["Write"]), WRITE, "denied", "end"))
    assert last(answer)["result"]["answer"] == "denied"
    assert not (folder / "work" / "new.txt").exists()


@pytest.mark.parametrize(
    ("limits", "turns", "stopped"),
    [
        ({"calls": 1}, [READ, "so far"], "limits.subagents.calls (1) was reached"),
        ({"iterations": 1}, [READ, "so far"], "limits.subagents.iterations (1) was reached"),
    ],
)
def test_a_limit_ends_it_by_name_with_what_it_has(
    folder: Path, limits: dict[str, Any], turns: list[Any], stopped: str
) -> None:
    answer = asked(folder, script(folder, task(), *turns, "end"), limits=limits)
    assert last(answer)["result"]["stopped"] == stopped
    assert last(answer)["result"]["answer"] == "so far"


def test_what_it_uses_counts_for_its_parent(folder: Path) -> None:
    used = {"usage": {"input_tokens": 100, "output_tokens": 10}}
    calls = [{"tool": name, "arguments": arguments} for name, arguments in (task(), READ)]
    turns = [
        {"calls": [calls[0]], **used},
        {"calls": [calls[1]], **used},
        {"text": "x", **used},
        {"text": "end"},
    ]
    (folder / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    with chat(folder, "scripted/turns.yaml") as terminal:
        terminal.until("you>")
        say(terminal, "Go")
    conversation = Conversation.load(folder / SAVED)
    assert (conversation.tokens, conversation.calls) == (330, 2)


def test_several_work_side_by_side(folder: Path) -> None:
    answer = asked(folder, script(folder, [task("One."), task("Two.")], "done", "done", "end"))
    assert [use["result"]["result"]["answer"] for use in answer["tool_calls"]] == ["done", "done"]


def test_it_starts_no_other_unless_the_depth_allows_that(folder: Path) -> None:
    turns = (task(), task("Deeper."), "deep", "not so deep", "end")
    assert last(asked(folder, script(folder, *turns)))["result"]["answer"] == "deep"
    deeper = asked(folder, script(folder, task(tools=["Task"]), *turns[1:]), limits={"depth": 2})
    assert last(deeper)["result"]["answer"] == "not so deep"


def test_tools_that_do_not_exist_are_named_back(folder: Path) -> None:
    refused = last(asked(folder, script(folder, task(tools=["Fly"]), "end")))
    assert refused["error_code"] == "invalid_parameters"
    assert "none is called Fly" in refused["error"] and "Read" in refused["user_action"]


def test_a_provider_that_fails_is_a_failed_task(folder: Path) -> None:
    first = {"calls": [{"tool": "Task", "arguments": task()[1]}]}
    turns = [first, {"error": {"kind": "provider", "message": "overloaded"}}, {"text": "end"}]
    (folder / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    failed = last(asked(folder, "scripted/turns.yaml"))
    assert failed["error_code"] == "subagent_failed" and "overloaded" in failed["error"]


@pytest.mark.requirement("I12.3.43")
def test_in_plan_mode_a_sub_agent_changes_nothing_either(folder: Path) -> None:
    turns = (("EnterPlanMode", {}), task(tools=["Write"]), WRITE, "refused", "end")
    asked(folder, script(folder, *turns), "--approval", "never")
    assert not (folder / "work" / "new.txt").exists()


def test_ctrl_c_ends_it_with_its_parent_and_the_chat_goes_on(folder: Path) -> None:
    command = ("Bash", {"command": "echo begun > begun; sleep 600"})
    turns = (task(tools=["Bash"]), command, "never said")
    with chat(folder, script(folder, *turns), "--approval", "never") as terminal:
        terminal.until("you>")
        terminal.type("Go\r")
        terminal.until("[look around] → Bash")
        terminal.type(CTRL_C)
        terminal.until("interrupted")
        terminal.until("you>")
        say(terminal, "/tools")
    [result] = results(folder)
    assert result["error_code"] == "cancelled"
    assert json.loads((folder / SAVED).read_text())["messages"][-1]["role"] == "tool_results"
