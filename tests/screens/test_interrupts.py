"""Ctrl+C at each moment of an answer: it ends the answer, what was shown stays, and the chat goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.fake_providers import FakeProvider, anything
from tests.support.screens import CTRL_C, CTRL_D, ENTER, Screen
from tests.support.waiting import eventually
from tests.support.wire_peers import streamed, wires
from tests.support.workspace_chats import WORKSPACE, script

pytestmark = [pytest.mark.requirement("I13.6.4"), pytest.mark.long]

LONG = "It rains in Oslo, and it will go on to rain for the whole day, so that an umbrella is of use."
SLOW = """
tools:
  registry:
    - name: slow
      description: Slow
      implementation:
        type: mock
        steps: [{progress: {progress: 1, total: 4, message: a quarter}}, {delay_ms: 25000}]
        response: late
"""


def leave(screen: Screen) -> None:
    screen.asks()
    screen.type(CTRL_D)
    assert screen.ended() == 0
    assert "Traceback" not in screen.shown


def test_before_the_first_word_and_in_the_middle_of_a_stream_beside_a_resize(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = wires("openai").frames(LONG)
    replies = [
        streamed("openai", stall=True),
        streamed("openai", *frames[: len(frames) // 2], stall=True),
        streamed("openai", *frames),
    ]
    with FakeProvider(anything, replies) as fake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        arguments = ("chat", "--no-save", "-m", "openai-chat/m")
        with Screen(*arguments, cwd=tmp_path, columns=70, lines=40) as screen:
            screen.asks()
            screen.type("First" + ENTER)
            assert eventually(lambda: bool(fake.received))
            screen.type(CTRL_C)
            screen.shows("you> First\n", "toolspan: interrupted\nyou>")
            screen.asks()
            screen.type("Second" + ENTER)
            screen.shows("you> Second\nIt rains in Oslo")
            screen.resize(40, 40)
            screen.type(CTRL_C)
            screen.shows("It rains in Oslo", "\ntoolspan: interrupted\nyou>")
            screen.asks()
            screen.type("Third" + ENTER)
            screen.shows(
                "you> Third\nIt rains in Oslo, and it will go on to\nrain for the whole day, so that an\n"
                "umbrella is of use.\n"
            )
            leave(screen)


def test_during_a_call_whose_progress_is_a_bar(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(SLOW)
    model = script(tmp_path, ("slow", {}), "Never said.", "Here again.")
    with Screen("chat", "--trust", "--no-save", "-m", model, cwd=tmp_path, columns=60) as screen:
        screen.asks()
        screen.type("Go" + ENTER)
        screen.shows("→ slow()\n", "slow", "━", "25 %", "a quarter")
        screen.type(CTRL_C)
        screen.shows("→ slow()\n", "toolspan: interrupted\nyou>")
        screen.asks()
        assert "━" not in screen.text and "25 %" not in screen.text
        leave(screen)


def test_at_the_question_for_approval(tmp_path: Path) -> None:
    (tmp_path / WORKSPACE).mkdir()
    model = script(tmp_path, ("Write", {"file_path": "a.txt", "content": "new\n"}), "Here again.")
    arguments = ("chat", "--no-save", "-m", model, "--workspace", WORKSPACE)
    with Screen(*arguments, cwd=tmp_path, columns=60, lines=40) as screen:
        screen.asks()
        screen.type("Go" + ENTER)
        screen.asks("allow?")
        screen.type(CTRL_C)
        screen.shows("allow?", "toolspan: interrupted\nyou>")
        screen.asks()
        screen.type("And now?" + ENTER)
        screen.shows("you> And now?\n", "Here again.\n")
        leave(screen)
    assert not (tmp_path / WORKSPACE / "a.txt").exists()


@pytest.mark.requirement("I13.4.52")
def test_a_bar_tells_for_how_long_and_is_gone_after_a_resize_too(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(SLOW)
    model = script(tmp_path, ("slow", {}), "Never said.")
    with Screen("chat", "--trust", "--no-save", "-m", model, cwd=tmp_path, columns=80) as screen:
        screen.asks()
        screen.type("Go" + ENTER)
        screen.matches(r"→ slow\(\)\n  slow ━+.*25 %  a quarter · \d+ s")
        screen.resize(40)
        screen.matches(r"→ slow\(\)\n  slow ━+.*… · \d+ s")
        screen.type(CTRL_C)
        screen.shows("→ slow()\ntoolspan: interrupted\nyou>")
        screen.asks()
        assert "━" not in screen.text
        leave(screen)
