"""What stands below the input line: who answers, and what the conversation took so far."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.screens import CTRL_D, ENTER, Screen
from tests.support.wire_peers import streamed, wires
from toolspan_bridge.providers.prices import usd_text

pytestmark = [pytest.mark.requirement("I13.4.51"), pytest.mark.long]

MODEL = "anthropic/claude-opus-4-5"
USAGE = wires("anthropic").USAGE
READ = USAGE["input_tokens"] + USAGE["cache_read_input_tokens"]
TOKENS = READ + USAGE["output_tokens"]
ONE = (USAGE["input_tokens"] * 5 + USAGE["cache_read_input_tokens"] * 0.5 + USAGE["output_tokens"] * 25) / 1e6


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    said: list[Sent] = [streamed("anthropic", *wires("anthropic").frames("So.")) for _ in range(5)]
    with FakeProvider(anything, said) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        yield fake


def below(answers: int, *, context: bool = True) -> str:
    """The line where there is room for all of it."""
    known = f" · context {100 * TOKENS / 200_000:.0f} % of 200,000" if context else ""
    return f"{MODEL}{known} · cost {usd_text(answers * ONE)} · {answers * TOKENS:,} tokens"


def ask(screen: Screen, text: str) -> None:
    screen.type(text + ENTER)
    screen.shows(f"you> {text}", "\nyou>")
    screen.asks()


@pytest.mark.usefixtures("answers")
def test_it_is_right_after_answers_another_model_a_new_conversation_and_an_old_one(tmp_path: Path) -> None:
    with Screen("chat", "-m", MODEL, cwd=tmp_path, columns=100) as screen:
        screen.asks()
        screen.has_below(MODEL)
        ask(screen, "One")
        screen.has_below(below(1))
        ask(screen, "Two")
        screen.has_below(below(2))
        assert screen.style(MODEL).reverse is False
        screen.type("/model offline/keyword" + ENTER)
        screen.has_below(f"offline/keyword · {2 * TOKENS:,} tokens")
        screen.type(f"/model {MODEL} anyway" + ENTER)
        screen.has_below(below(2))
        screen.type("/clear" + ENTER)
        screen.has_below(MODEL)
        ask(screen, "Three")
        screen.has_below(below(1))
        screen.asks()
        screen.type(CTRL_D)
        assert screen.ended() == 0
        assert " tokens" not in screen.bottom  # it leaves nothing behind
    with Screen("chat", "-m", MODEL, "--continue", cwd=tmp_path, columns=100) as screen:
        screen.has_below(below(1, context=False))  # how much the model reads is not known before it has
        ask(screen, "Four")
        screen.has_below(below(2))


@pytest.mark.usefixtures("answers")
def test_it_has_what_fits_and_follows_the_size_of_the_terminal(tmp_path: Path) -> None:
    with Screen("chat", "--no-save", "-m", MODEL, cwd=tmp_path, columns=100) as screen:
        screen.asks()
        ask(screen, "One")
        screen.has_below(below(1))
        screen.type("half a line")
        screen.shows("you> half a line")
        for columns in (60, 40, 24, 100):
            screen.resize(columns)
            parts = below(1).split(" · ")
            while len(" · ".join(parts)) >= columns:
                parts.pop()
            screen.has_below(" · ".join(parts))
            screen.shows("you> half a line")
            assert screen.text.count("half a line") == 1
        screen.type(" more" + ENTER)
        screen.shows("you> half a line more\n", "So.", "you>")
        screen.asks()


@pytest.mark.usefixtures("answers")
def test_a_dumb_terminal_has_none(tmp_path: Path) -> None:
    environment = {"TERM": "dumb"}
    with Screen("chat", "--no-save", "-m", MODEL, cwd=tmp_path, environment=environment) as screen:
        screen.asks()
        ask(screen, "One")
        screen.type(CTRL_D)
        assert screen.ended() == 0
        assert screen.text.count(MODEL) == 2  # in the banner, and under the answer
