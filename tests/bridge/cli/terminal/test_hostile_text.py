"""Whatever tools, servers, models and files say: no verb lets it act on the terminal or hide."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from tests.support.cli import Ran, toolspan
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.2.8")]

HOSTILE = "\x1b]52;c;QUJD\x07\x9b2J\u202e\u200b\u2028\U000e0041\ufeff[link=http://evil]x[/link]"
RAW = set("\x07\x9b\u202e\u200b\u2028\U000e0041\ufeff")
MARK = "[link=http://evil]x[/link]"
STDERR = "import sys; sys.stderr.write(sys.argv[1] + '\\n'); sys.stderr.flush(); sys.exit(3)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / f"a{HOSTILE.replace('/', '')}"
    place.mkdir()
    tools = [
        {
            "name": "say",
            "description": f"Say something. {HOSTILE}",
            "parameters": {"type": "object", "properties": {"x": {"type": "string", "description": HOSTILE}}},
            "implementation": {"type": "mock", "mock_response": f"said {HOSTILE}"},
            "examples": [{"result": f"said {HOSTILE}", "description": HOSTILE}, {"result": HOSTILE}],
        },
        {
            "name": "fail",
            "description": "Fail always",
            "implementation": {"type": "mock", "error": {"message": f"broken {HOSTILE}"}},
        },
    ]
    config = {
        "name": "mine",
        "tools": {"registry": tools},
        "mcpServers": {
            "dying": {"command": sys.executable, "args": ["-c", STDERR, HOSTILE.replace("\x00", "")]}
        },
    }
    (place / "toolspan.json").write_text(json.dumps(config))
    return place


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def a_terminal() -> Iterator[None]:
    with patch.object(io, "StringIO", _Screen):
        yield


def shown(folder: Path, *words: str, code: int | None = 0) -> Ran:
    with a_terminal():
        ran = toolspan(*words, cwd=folder, NO_COLOR="1", TERM="dumb", TOOLSPAN_CONFIG="toolspan.json")
    assert code is None or ran.code == code, ran.err
    assert not RAW & set(ran.out + ran.err), ascii(ran.out + ran.err)
    assert "\x1b]" not in ran.out + ran.err
    return ran


def test_what_a_tool_gives_is_shown_in_escapes_and_its_markup_as_it_is(folder: Path) -> None:
    ran = shown(folder, "tools", "call", "say")
    escaped = r"\x1b]52;c;QUJD\x07\x9b2J\u202e\u200b\u2028\U000e0041\ufeff"
    assert ran.out == f"said {escaped}{MARK}\n"


def test_what_a_server_writes_as_it_dies_is_shown_in_escapes(folder: Path) -> None:
    assert r"\x1b]52;c;QUJD\x07" in shown(folder, "tools", "list").err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("tools", "list"), 0),
        (("tools", "list", "--json"), 0),
        (("tools", "list", "--names", "openai"), 0),
        (("tools", "show", "say"), 0),
        (("tools", "call", "say", "--json"), 0),
        (("tools", "call", "fail"), 5),
        (("tools", "call", "fail", "--json"), 5),
        (("tools", "call", HOSTILE), 2),
        (("tools", "call", "say", HOSTILE.replace("=", ":")), 2),
        (("tools", "call", "say", f"--{HOSTILE}"), 2),
        (("check",), 0),
        (("check", "--run-examples"), 5),
        (("check", "--json"), 0),
        (("check", "--config", f"{HOSTILE}.yaml"), 2),
        (("lint", "--fail-on", "error"), 0),
        (("export", "--format", "openai"), 0),
        (("export", "--format", "openai", "--pretty"), 0),
        (("export", "--request", f"Say {HOSTILE}", "--model", "openai/gpt-4o", "--curl"), 0),
        (("ask", f"say something {HOSTILE}"), 0),
        (("ask", f"say something {HOSTILE}", "--json"), 0),
        (("ask", "hi", "--model", HOSTILE), 2),
        (("models", "--provider", HOSTILE), 2),
        (("validate", "--suite", f"{HOSTILE}.yaml"), 2),
        (("report",), 2),
        (("install", "cursor", "--print"), 0),
        (("init", "-o", "-", "--name", HOSTILE), None),
        ((HOSTILE,), 2),
    ],
    ids=lambda value: ascii(" ".join(value)) if isinstance(value, tuple) else "",
)
def test_no_verb_lets_it_through(words: tuple[str, ...], code: int | None, folder: Path) -> None:
    shown(folder, *words, code=code)


def test_json_is_the_same_value_for_a_program(folder: Path) -> None:
    ran = toolspan("tools", "call", "say", "--json", "--config", "toolspan.json", cwd=folder)
    assert ran.json["result"] == f"said {HOSTILE}"


def test_data_that_goes_to_a_file_or_a_program_is_left_as_it_is(folder: Path) -> None:
    ran = toolspan("tools", "call", "say", "--config", "toolspan.json", cwd=folder)
    assert ran.out == f"said {HOSTILE}\n"


def test_what_validate_tells_is_shown_in_escapes(folder: Path) -> None:
    scenario = {"query": f"say {HOSTILE}", "name": f"named {HOSTILE}", "expect": {"answer": "no such words"}}
    (folder / "suite.yaml").write_text(yaml.safe_dump({"name": "hostile", "scenarios": [scenario]}))
    ran = shown(folder, "validate", "--suite", "suite.yaml", code=6)
    assert MARK in ran.out
    shown(folder, "report")


@pytest.mark.parametrize("words", [("check",), ("tools", "list"), ("lint",)])
def test_definitions_that_hide_something_are_warned_of(words: tuple[str, ...], folder: Path) -> None:
    ran = shown(folder, *words)
    assert "U+200B ZERO WIDTH SPACE" in ran.err and "'say'" in ran.err
    assert "/description" in ran.err and "/schema/properties/x/description" in ran.err
    assert "'fail'" not in ran.err


def test_lint_finds_it_in_every_format(folder: Path) -> None:
    found = toolspan("lint", "--json", "--config", "toolspan.json", cwd=folder).json["findings"]
    invisible_text = [each for each in found if each["rule"] == "hidden-characters"]
    assert {each["pointer"] for each in invisible_text} == {"/description", "/properties/x/description"}
    assert all(len(each["formats"]) == 8 and each["severity"] == "warning" for each in invisible_text)


def test_a_streamed_answer_on_a_real_terminal_is_shown_in_escapes(folder: Path) -> None:
    (folder / "turns.yaml").write_text(json.dumps({"turns": [{"text": f"I say {HOSTILE} and more"}]}))
    with Terminal("ask", "hi", "-m", "scripted/turns.yaml", "-c", "toolspan.json", cwd=folder) as terminal:
        terminal.until("and more")
        assert r"\u202e\u200b\u2028\U000e0041\ufeff" in terminal.shown
        assert not RAW & set(terminal.shown) and "\x1b]" not in terminal.shown


def test_what_a_served_config_logs_on_a_real_terminal_is_shown_in_escapes(folder: Path) -> None:
    with Terminal("serve", "--config", f"{HOSTILE.replace('/', '')}.yaml", cwd=folder) as terminal:
        assert terminal.ended() == 2
        assert r"\u202e\u200b\u2028\U000e0041\ufeff" in terminal.shown
        assert not RAW & set(terminal.shown) and "\x1b]" not in terminal.shown
