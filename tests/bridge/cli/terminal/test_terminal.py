"""``chat`` and ``ask`` at a real terminal, Ctrl+C included."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.fake_providers import FakeProvider, anything
from tests.support.terminal import Terminal
from tests.support.wire_peers import streamed, wires
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import Assistant

pytestmark = pytest.mark.long

CTRL_C, CTRL_D = "\x03", "\x04"
HANDLER = """
from toolspan_server import handler

@handler("forever")
def forever(arguments, context):
    context.cancelled.wait(600)
"""
CONFIG = """
handlers: [forever.py]
tools:
  registry:
    - name: snooze
      description: Sleep for a long time
      implementation: {type: builtin, handler: forever}
    - name: calculate
      description: Evaluate a mathematical expression
      parameters:
        type: object
        properties: {expression: {type: string, description: Math expression}}
        required: [expression]
      implementation: {type: builtin, handler: math_eval}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    (tmp_path / "forever.py").write_text(HANDLER)
    return tmp_path


@pytest.mark.requirement("I2.6.6")
def test_chat_answers_at_its_prompt_and_leaves_with_ctrl_d(folder: Path) -> None:
    with Terminal("chat", "--trust", cwd=folder) as terminal:
        terminal.until("you>")
        terminal.type("What's 6*7?\r")
        assert "42" in terminal.until("language")
        terminal.until("you>")
        terminal.type("/tools\r")
        terminal.until("calculate, snooze")
        terminal.until("you>")
        terminal.type(CTRL_D)
        assert terminal.ended() == 0
        assert "Traceback" not in terminal.shown


@pytest.mark.requirement("I2.6.6")
def test_ctrl_c_ends_an_answer_and_then_the_chat(folder: Path) -> None:
    with Terminal("chat", "--trust", cwd=folder) as terminal:
        terminal.until("you>")
        terminal.type("sleep for a long time\r")
        terminal.until("→ ")
        terminal.until("snooze")
        terminal.type(CTRL_C)
        terminal.until("interrupted")
        terminal.until("you>")
        terminal.type("What's 6*7?\r")
        terminal.until("42")
        terminal.until("you>")
        terminal.type(CTRL_C)
        terminal.until("Ctrl+C again leaves the chat")
        terminal.until("you>")
        terminal.type(CTRL_C)
        assert terminal.ended() == 130
        assert "Traceback" not in terminal.shown


@pytest.mark.requirement("I2.6.6")
def test_ctrl_c_ends_ask_with_130_and_no_traceback(folder: Path) -> None:
    with Terminal("ask", "--trust", "sleep for a long time", cwd=folder) as terminal:
        terminal.until("→ ")
        terminal.until("snooze")
        terminal.type(CTRL_C)
        assert terminal.ended() == 130
        assert "interrupted" in terminal.shown
        assert "Traceback" not in terminal.shown


@pytest.mark.requirement("I5.1.2")
def test_ctrl_c_within_a_streamed_answer_keeps_what_came_and_the_chat_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = wires("openai").frames("It rains in Oslo.")
    replies = [streamed("openai", *frames[:4], stall=True), streamed("openai", *frames)]
    with FakeProvider(anything, replies) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        with Terminal("chat", "--trust", "-m", "openai/m", "--save", "talk.json", cwd=folder) as terminal:
            terminal.until("you>")
            terminal.type("How is the weather?\r")
            terminal.until("It r")
            terminal.type(CTRL_C)
            terminal.until("interrupted")
            terminal.until("you>")
            terminal.type("And now?\r")
            terminal.until("It rains in Oslo.")
            terminal.until("you>")
            terminal.type(CTRL_D)
            assert terminal.ended() == 0
    assert terminal.shown.count("It rains in Oslo.") == 1
    assert "Traceback" not in terminal.shown
    kept = Conversation.load(folder / "talk.json").messages[1]
    assert isinstance(kept, Assistant) and kept.incomplete and kept.text.startswith("It r")
    assert fake.received[1].body["messages"][-2]["role"] == "assistant"
