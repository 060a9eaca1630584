"""The menu at a limit, on a terminal."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.fake_providers import FakeProvider, anything
from tests.support.wire_peers import streamed, wires
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

    [log] = folder.rglob("conversations/*.jsonl")
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


@pytest.mark.parametrize(
    ("option", "limit", "said", "asked"),
    [
        ("--max-total-tokens", "10", r"10 tokens for this question was reached \(18 used\)", "tokens"),
        ("--max-seconds", "0.4", r"0.4 seconds for this question was reached", "seconds"),
    ],
)
def test_at_a_limit_of_tokens_or_time_the_person_is_asked_in_its_unit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, option: str, limit: str, said: str, asked: str
) -> None:
    slow = {"name": "slow", "description": "Slow", "implementation": {"type": "mock", "delay_ms": 500}}
    (folder / "toolspan.yaml").write_text(json.dumps({"tools": {"registry": [slow]}}))
    wire = wires("anthropic")
    calls = [wire.frames("", [(f"c{number}", "toolspan__slow", {})]) for number in range(2)]
    replies = [streamed("anthropic", *frames) for frames in (*calls, wire.frames("Done."))]
    with FakeProvider(anything, replies) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        with chat(folder, "anthropic/claude-opus-4-5", "--trust", option, limit) as terminal:
            terminal.until("you>")
            terminal.type("Go\r")
            shown = terminal.until("at the limit?")
            assert re.search(said, " ".join(shown.split()))
            answer(terminal, "n")
            terminal.until(f"how many {asked} more?")
            answer(terminal, "")  # as much as before
            terminal.until("at the limit?")
            answer(terminal, "c")
            terminal.until("Done.")
            terminal.until("you>")
    assert notes(folder) == [float(limit), "unlimited"]
