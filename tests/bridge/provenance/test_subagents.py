"""Marks pass to sub-agents and come back with their answers; all through the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.workspace_chats import script
from tests.support.workspaces import write_files
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import ToolResults

pytestmark = [pytest.mark.long, pytest.mark.requirement("I24.2.4")]

READ = ("Read", {"file_path": ".env"})
FETCH = ("WebFetch", {"url": "https://eve.example/"})
TASK = ("Task", {"description": "look around", "prompt": "Do it.", "tools": ["Read", "WebFetch"]})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return write_files(tmp_path, {"work/.env": "A=1\n"})


def asked(folder: Path, model: str, *options: str) -> Any:
    ran = toolspan("ask", "Go", "-m", model, "--workspace", "work", "--json", *options, cwd=folder)
    assert ran.code == 0, ran.err
    return ran


def test_a_secret_that_a_sub_agent_read_is_one_that_its_parent_holds(folder: Path) -> None:
    ran = asked(folder, script(folder, TASK, READ, "It says A=1.", FETCH, "done"))
    task, fetch = (call["result"] for call in ran.json["tool_calls"])
    assert task["success"]
    assert "looks like a secret: .env" in fetch["error"]


def test_a_sub_agent_knows_what_its_parent_has_read(folder: Path) -> None:
    ran = asked(folder, script(folder, READ, TASK, FETCH, "I could not.", "done"))
    kept = folder / ran.json["tool_calls"][1]["result"]["result"]["conversation"]
    messages = Conversation.load(kept).messages
    [error] = [o.result["error"] for each in messages if isinstance(each, ToolResults) for o in each.outcomes]
    assert "looks like a secret: .env" in error
    assert "the sub-agent 'look around' makes the call" in error


def test_a_conversation_that_is_gone_on_with_by_another_process_keeps_its_marks(folder: Path) -> None:
    asked(folder, script(folder, READ, "done"))
    ran = asked(folder, script(folder, FETCH, "done"), "--continue")
    assert "looks like a secret: .env" in ran.json["tool_calls"][0]["result"]["error"]


def test_policy_never_does_not_end_the_question_and_approve_does(folder: Path) -> None:
    model = script(folder, READ, FETCH, "done")
    denied = asked(folder, model, "--approval", "never").json["tool_calls"][1]["result"]
    assert denied["error_code"] == "denied" and "--approve NAME" in denied["error"]
    allowed = asked(folder, model, "--approve", "WebFetch").json["tool_calls"][1]["result"]
    assert allowed.get("error_code") != "denied"
