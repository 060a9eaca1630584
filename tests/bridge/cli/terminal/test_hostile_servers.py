"""Control characters in every field that a server or a provider fills in: none reaches a terminal."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

import tests.support.cli as support
from tests.support.cli import Ran, toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.terminal import Terminal
from tests.support.wire_peers import wires

pytestmark = pytest.mark.requirement("I13.2.12")

ACTING = ["\x07", "\x1b]", "\x1b[2J", "\x1b[5;31m", "\x9b", "\x9d", "\u202e", "\u2066", "\u200b", "\x08"]
"""BEL, OSC, CSI, C1, overrides of the order, the invisible, backspace."""
BAD = "\x1b]52;c;QQ\x07\x1b[2J\x1b[5;31m\x9b2J\x9d0;t\x9c\u202e\u2066\u200b\x08"
SERVER = Path(support.__file__).parent / "mcp_servers" / "hostile.py"


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config = {
        "name": "mine",
        "mcpServers": {"evil": {"command": sys.executable, "args": [str(SERVER), json.dumps(BAD)]}},
    }
    (tmp_path / "toolspan.json").write_text(json.dumps(config))
    turns = [{"calls": [{"tool": "say", "arguments": {"x": BAD}}]}, {"text": f"done {BAD}", "reasoning": BAD}]
    (tmp_path / "turns.yaml").write_text(json.dumps({"turns": turns}))
    return tmp_path


def checked(ran: Ran) -> Ran:
    for each in ACTING:
        assert each not in ran.out + ran.err, (ascii(each), ascii(ran.out), ascii(ran.err))
    return ran


def on_a_screen(folder: Path, *words: str, **environment: str) -> Ran:
    around = {
        "TOOLSPAN_CONFIG": str(folder / "toolspan.json"),
        "NO_COLOR": "",
        "TERM": "xterm",
        **environment,
    }
    with patch.object(io, "StringIO", _Screen):
        return checked(toolspan(*words, cwd=folder, **around))


VERBS = [
    ("tools", "list"),
    ("tools", "list", "--json"),
    ("tools", "list", "--names", "anthropic"),
    ("tools", "show", "say"),
    ("tools", "call", "say", "x=1"),
    ("tools", "call", "say", "--json"),
    ("tools", "call", "fail"),
    ("tools", "call", "refuse"),
    ("tools", "call", "refuse", "--json"),
    ("lint",),
    ("lint", "--json"),
    ("export", "--format", "gemini"),
    ("export", "--format", "openai", "--pretty"),
    ("lock",),
    ("ask", "go", "-m", "scripted/turns.yaml", "--approve", "say"),
    ("ask", "go", "-m", "scripted/turns.yaml", "--no-stream"),
    ("ask", "go", "-m", "scripted/turns.yaml", "--quiet"),
    ("ask", "go", "-m", "scripted/turns.yaml", "--json"),
    ("ask", f"@evil:file:///{BAD}"),
    ("ask", f"/evil:{BAD}"),
]


@pytest.mark.parametrize("words", VERBS, ids=lambda words: ascii(" ".join(words)))
def test_no_verb_shows_what_a_server_says_as_it_is(words: tuple[str, ...], folder: Path) -> None:
    ran = on_a_screen(folder, *words)
    assert ran.code in (0, 2, 5), ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("stream", [(), ("--no-stream",)])
def test_what_a_provider_answers_is_shown_in_escapes(stream: tuple[str, ...], folder: Path) -> None:
    for sent, code in (
        (Sent(wires("openai").answer(f"It is {BAD}")), 0),
        (Sent({"error": {"message": f"no {BAD}", "type": BAD}}, status=400), 1),
        (Sent({"error": {"message": f"no {BAD}", "type": BAD}}, status=404), 2),
        (Sent(f"<html>{BAD}".encode(), status=200), 1),
    ):
        with FakeProvider(anything, [sent]) as fake:
            held = {"OPENAI_API_KEY": "sk-secret-0123", "OPENAI_BASE_URL": f"{fake.url}/v1"}
            words = ("ask", "hi", "-m", f"openai-chat/gpt{BAD}", "--no-save", *stream)
            ran = on_a_screen(folder, *words, NO_COLOR="1", TERM="dumb", **held)
        assert ran.code == code, ran.err


def test_the_names_of_models_are_shown_in_escapes(folder: Path) -> None:
    with FakeProvider(
        anything, [Sent({"object": "list", "data": [{"id": f"m{BAD}", "object": "model"}]})]
    ) as fake:
        held = {"OPENAI_API_KEY": "sk-secret-0123", "OPENAI_BASE_URL": f"{fake.url}/v1"}
        ran = on_a_screen(folder, "models", "-p", "openai-chat", **held)
    assert ran.code == 0 and r"\x1b]52;c" in ran.out


def test_what_is_piped_has_notes_in_escapes_too(folder: Path) -> None:
    ran = toolspan("tools", "call", "refuse", "-c", "toolspan.json", cwd=folder)
    assert ran.code == 5
    checked(Ran(ran.code, "", ran.err))


@pytest.mark.long
def test_a_real_terminal_gets_none_of_it_from_a_turn_with_calls(folder: Path) -> None:
    words = ("ask", "go", "-m", "scripted/turns.yaml", "-c", "toolspan.json", "--approve", "say", "--no-save")
    with Terminal(*words, cwd=folder) as terminal:
        terminal.until("done")
        assert terminal.ended() == 0
        for each in ACTING:
            assert each not in terminal.shown, (ascii(each), ascii(terminal.shown))
