"""``/compact`` in a chat, and long results that are read on after a resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, toolspan
from toolspan_bridge import Conversation

CONFIG = """
limits: {result_characters: 200}
tools:
  registry:
    - name: look
      description: Looks.
      parameters: {type: object}
      implementation: {type: mock, mock_response: "%s"}
""" % ("0123456789" * 60)


def chat(folder: Path, turns: list[Any], *options: str, stdin: str) -> Ran:
    (folder / "tools.yaml").write_text(CONFIG)
    (folder / "turns.yaml").write_text(json.dumps({"turns": turns}))
    return toolspan(
        "chat", "-m", "scripted/turns.yaml", "-c", "tools.yaml", *options, cwd=folder, stdin=stdin
    )


@pytest.mark.requirement("I12.5.23")
def test_a_chat_goes_on_with_a_summary_also_after_it_was_saved(tmp_path: Path) -> None:
    turns = [{"text": "One."}, {"text": "They said one."}, {"text": "Two."}]
    ran = chat(tmp_path, turns, "--save", "talk.json", stdin="/compact\nFirst?\n/compact\n")
    assert "there is nothing to summarise yet" in ran.err
    assert "a summary of 2 messages is sent in their place" in ran.err
    kept = Conversation.load(tmp_path / "talk.json")
    assert kept.summary is not None and kept.summary.text == "They said one."
    assert len(kept.messages) == 2


@pytest.mark.requirement("I12.5.21")
def test_a_long_result_is_read_on_after_a_resume(tmp_path: Path) -> None:
    call = {"tool": "look", "arguments": {}, "id": "c1"}
    first = chat(tmp_path, [{"calls": [call]}, {"text": "Seen."}], "--save", "talk.json", stdin="Look?\n")
    assert first.code == 0
    read = {"tool": "read_result", "arguments": {"call_id": "c1", "offset": 200, "limit": 7}}
    ran = chat(
        tmp_path,
        [{"calls": [read]}, {"text": "Read."}],
        "--resume",
        "talk.json",
        "--json",
        stdin="More?\n",
    )
    (use,) = json.loads(ran.out)["tool_calls"]
    assert (use["tool"], use["result"]["result"]["text"]) == ("read_result", "0123456")
