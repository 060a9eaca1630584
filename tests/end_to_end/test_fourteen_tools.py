"""Each of the fourteen tools, used by a scripted model in a chat on a terminal, in a real folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.loopback_web import web
from tests.support.terminal import Terminal
from tests.support.workspace_chats import SAVED, answer, results, say, script
from tests.support.workspaces import write_files

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.3.49")]

CELL = {"cell_type": "code", "id": "one", "metadata": {}, "source": "1", "outputs": []}
NOTEBOOK = {
    "cells": [{**CELL, "execution_count": None}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
QUESTION = {"question": "Which sea?", "options": ["North", "South"]}
TODO = {"content": "Look up the tides", "status": "in_progress"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return write_files(tmp_path, {"work/a.txt": "one\n", "work/n.ipynb": json.dumps(NOTEBOOK)})


def calls(address: str) -> list[tuple[str, dict[str, Any]] | str]:
    """What the model says: each tool once, in the task also what the sub-agent says."""
    return [
        ("Read", {"file_path": "a.txt"}),
        ("Write", {"file_path": "new.txt", "content": "new\n"}),
        ("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
        ("Glob", {"pattern": "*.txt"}),
        ("Grep", {"pattern": "tw."}),
        ("Bash", {"command": "cat a.txt | tr a-z A-Z"}),
        ("WebFetch", {"url": f"{address}/tide"}),
        ("WebSearch", {"query": "tides"}),
        ("Task", {"description": "look", "prompt": "What is in new.txt?"}),
        ("Read", {"file_path": "new.txt"}),
        "it says new",
        ("TodoWrite", {"todos": [TODO]}),
        ("Read", {"file_path": "n.ipynb"}),
        ("NotebookEdit", {"notebook_path": "n.ipynb", "cell_id": "one", "new_source": "2"}),
        ("AskUserQuestion", {"questions": [QUESTION]}),
        ("EnterPlanMode", {}),
        ("ExitPlanMode", {"plan": "Nothing more"}),
        "All done.",
    ]


def configured(folder: Path, address: str) -> tuple[str, ...]:
    workspace = {
        "path": "work",
        "web_fetch": {"allow_private": ["127.0.0.1"]},
        "web_search": {"type": "searxng", "url": address},
    }
    tools = {"max_iterations": 50, "sources": [{"type": "workspace", "workspace": "main"}]}
    config = {"name": "real", "services": {"workspaces": {"main": workspace}}, "tools": tools}
    (folder / "real.json").write_text(json.dumps(config))
    return ("--config", "real.json", "--save", SAVED)


def allow(terminal: Terminal, tool: str) -> str:
    """Say yes to the question about ``tool``, and give the question."""
    shown = terminal.until("allow?")
    assert f"{tool} of the server 'real' needs approval" in shown
    answer(terminal, "y")
    return shown


def test_a_model_uses_each_of_the_fourteen_tools_and_a_person_allows_what_changes_something(
    folder: Path,
) -> None:
    with web() as address:
        options = configured(folder, address)
        model = script(folder, *calls(address))
        with Terminal("chat", "-m", model, *options, cwd=folder) as terminal:
            terminal.until("you>")
            answer(terminal, "Go")
            assert "+new" in allow(terminal, "Write")
            assert "-one" in allow(terminal, "Edit")
            assert "command: cat a.txt" in allow(terminal, "Bash")
            assert "[look] → Read(file_path=new.txt)" in terminal.until("[>] Look up the tides")
            allow(terminal, "NotebookEdit")
            terminal.until("answer?")
            answer(terminal, "a")
            for typed, prompt in (("2", "Which sea?:"), ("", "of the options:"), ("s", "send?")):
                terminal.until(prompt)
                answer(terminal, typed)
            assert "  Nothing more" in terminal.until("leave plan mode with it?")
            answer(terminal, "y")
            terminal.until("All done.")
            terminal.until("you>")
            shown = say(terminal, "/changes")
            assert all(name in shown for name in ("a.txt: changed", "new.txt: created", "n.ipynb: changed"))
            assert "new.txt: undone" in say(terminal, "/undo all")
    told = results(folder)
    assert [each.get("error") for each in told] == [None] * len(told)
    assert {each["tool_name"] for each in told} == {
        "Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch", "WebSearch", "Task", "TodoWrite",
        "NotebookEdit", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode",
    }  # fmt: skip
    by_tool = {each["tool_name"]: each["result"] for each in told}
    assert by_tool["Bash"]["output"] == "TWO\n"
    assert "It is high" in by_tool["WebFetch"]["untrusted_content"]
    assert by_tool["Task"]["answer"] == "it says new"
    assert by_tool["AskUserQuestion"]["answers"] == [{"question": "Which sea?", "answer": "South"}]
    assert (folder / "work" / "a.txt").read_text() == "one\n"
    assert not (folder / "work" / "new.txt").exists()
