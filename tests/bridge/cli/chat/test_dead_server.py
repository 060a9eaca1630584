"""A server that dies in a chat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import toolspan_process
from tests.support.mcp_peers import talker

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.2.83")]


@pytest.mark.parametrize("era", ["old", "new"])
def test_a_server_that_dies_in_a_chat_is_started_again_and_its_last_words_are_told(
    era: str, tmp_path: Path
) -> None:
    command, *arguments = talker(era).command
    config = {"mcpServers": {"talker": {"command": command, "args": list(arguments)}}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
    turns: list[dict[str, Any]] = [
        {"calls": [{"tool": "die", "arguments": {}}]},
        {"text": "it died"},
        {"calls": [{"tool": "told", "arguments": {}}]},
        {"text": "it is back"},
    ]
    (tmp_path / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    words = (
        "chat",
        "-m",
        "scripted/turns.yaml",
        "--config",
        "mine.yaml",
        "--save",
        "talk.json",
        "--approve",
        "told",
    )
    ran = toolspan_process(*words, stdin="Go\nAgain\n", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "it died\nit is back\n")
    saved = (tmp_path / "talk.json").read_text()
    assert "exited with status 3 (it last said: the cellar is flooded)" in saved
    assert '"success": true' in saved.replace('"success":true', '"success": true')
