"""A remote server that goes away in a chat and comes back at the same address."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.served import http_server, write_config
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import ToolResults

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.2.89")]


@pytest.mark.parametrize(("transport", "path"), [("http", "/mcp"), ("sse", "/sse")])
def test_a_remote_server_that_is_back_at_its_address_is_connected_again_for_the_next_call(
    tmp_path: Path, transport: str, path: str
) -> None:
    served = write_config(tmp_path)
    call: dict[str, Any] = {"calls": [{"tool": "add", "arguments": {}}]}
    turns = [call, {"text": "one"}, call, {"text": "two"}, call, {"text": "three"}]
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
        "add",
    )
    with http_server(served) as first:
        url = f"{first.url}{path}"
        config = {"mcpServers": {"far": {"type": transport, "url": url}}}
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
        chat = subprocess.Popen(
            [sys.executable, "-m", "toolspan_bridge", *words],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert said(chat, "Go") == "one\n"
        port = first.url.rsplit(":", 1)[1]
    assert said(chat, "Gone?") == "two\n"
    with http_server(served, "--port", port):
        assert said(chat, "Back?") == "three\n"
        _, told = chat.communicate()
    assert chat.returncode == 0, told
    results = [
        each for each in Conversation.load(tmp_path / "talk.json").messages if isinstance(each, ToolResults)
    ]
    first_call, gone, back = [each.outcomes[0] for each in results]
    assert (first_call.failed, gone.failed, back.failed) == (False, True, False)
    reasons = (
        f"nothing answers at {url} (start it, or correct the url)",
        f"the connection to {url} was lost",
    )
    assert gone.result["error_code"] == "server_unavailable"
    assert gone.result["error"] in [f"server 'far' is gone: {reason}" for reason in reasons]
    assert told.count(gone.result["error"]) == 1


def said(chat: subprocess.Popen[str], question: str) -> str:
    """The answer to ``question``."""
    assert chat.stdin is not None and chat.stdout is not None
    chat.stdin.write(f"{question}\n")
    chat.stdin.flush()
    return chat.stdout.readline()
