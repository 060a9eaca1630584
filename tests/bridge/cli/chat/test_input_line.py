"""The input line of a chat, on an emulated terminal."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.screens import CTRL_C, ENTER, Screen
from tests.support.workspace_chats import script
from toolspan_bridge.cli.chat.input.history import FILE, LineHistory
from toolspan_bridge.cli.chat.input.pastes import Pastes
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.messages import User

ALT_ENTER, CTRL_R, UP = "\x1b\r", "\x12", "\x1b[A"
EDITOR = """
import pathlib, sys
file = pathlib.Path(sys.argv[1])
file.write_text(file.read_text().rstrip() + " edited\\nhere\\n")
"""
LONG = "\n".join(f"line {number}" for number in range(120))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("VISUAL", raising=False)
    return tmp_path


def chat(folder: Path, *options: str) -> Screen:
    model = script(folder, *[f"answer {number}" for number in range(9)])
    return Screen("chat", "-m", model, "--save", "talk.json", *options, cwd=folder)


def asked(folder: Path) -> list[str]:
    return [each.text for each in Conversation.load(folder / "talk.json").messages if isinstance(each, User)]


def pasted(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


@pytest.mark.long
@pytest.mark.requirement("I13.4.31")
def test_a_question_has_several_lines_and_a_long_paste_is_folded_and_sent_whole(folder: Path) -> None:
    with chat(folder) as screen:
        screen.asks()
        screen.type("one\\" + ENTER + "two" + ALT_ENTER + "three\\\\" + ENTER)
        screen.shows("you> one\n.. two\n.. three\\\\\n", "answer 0")
        screen.asks()
        screen.type("What is this? " + pasted(LONG) + pasted("short"))
        screen.shows("you> What is this? [pasted 120 lines]short")
        screen.type("\x7f" * 6)  # the fold goes with one backspace
        screen.asks("you> What is this?")
        screen.type(pasted(LONG) + pasted(LONG + "!") + ENTER)
        screen.shows("[pasted 120 lines][pasted 120 lines, the 2th]", "answer 1")
        screen.asks()
        screen.type(CTRL_C)
        screen.shows("Ctrl+C again leaves")
        screen.asks()
        screen.type("\x04")
        assert screen.ended() == 0
    assert asked(folder) == ["one\ntwo\nthree\\\\", f"What is this? {LONG}{LONG}!"]


@pytest.mark.long
@pytest.mark.requirement("I13.4.32")
def test_lines_of_earlier_chats_come_back_also_those_that_were_cleared(folder: Path) -> None:
    with chat(folder) as screen:
        screen.asks()
        screen.type(f"See {pasted(LONG)}{ENTER}")
        screen.shows("answer 0")
        screen.asks()
        screen.type("never sent" + CTRL_C)
        screen.asks()
        screen.type(CTRL_C)
        screen.shows("Ctrl+C again leaves")
        screen.asks()
        screen.type(CTRL_C)
        assert screen.ended() == 130
    (folder / "talk.json").unlink()
    with chat(folder) as screen:
        screen.asks()
        screen.type(UP)
        screen.shows("you> never sent")
        screen.type(UP)
        screen.shows("you> See [pasted 120 lines]")
        screen.type(CTRL_C)
        screen.asks()
        screen.type(CTRL_R + "never")
        screen.shows("you> never sent")
        screen.type(ENTER + ENTER)
        screen.shows("answer 0")
        screen.asks()
        screen.type(UP + UP + UP + ENTER)
        screen.shows("answer 1")
    assert asked(folder)[0] == "never sent"
    file = folder / "state" / "toolspan" / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.long
@pytest.mark.requirement("I13.4.32")
def test_no_save_keeps_no_line(folder: Path) -> None:
    with Screen("chat", "-m", script(folder, "one"), "--no-save", cwd=folder) as screen:
        screen.asks()
        screen.type("secret" + ENTER)
        screen.shows("one")
        screen.asks()
        screen.type(UP)
        screen.shows("you> secret")
    assert not (folder / "state" / "toolspan" / FILE).exists()


@pytest.mark.long
@pytest.mark.requirement("I13.4.33")
def test_a_question_is_written_in_an_editor_and_sent_by_enter(folder: Path) -> None:
    editor = folder / "editor"
    editor.write_text(f"#!{sys.executable}\n{EDITOR}")
    editor.chmod(0o755)
    environment = {"EDITOR": str(editor)}
    model = script(folder, "one", "two")
    with Screen("chat", "-m", model, "--save", "talk.json", cwd=folder, environment=environment) as screen:
        screen.asks()
        screen.type("/edit Text" + ENTER)
        screen.shows("you> Text edited\n.. here")
        screen.type(ENTER)
        screen.shows("one")
        screen.asks()
        screen.type("More\x18\x05")
        screen.shows("you> More edited\n.. here")
        screen.type(ENTER)
        screen.shows("two")
        screen.asks()
    assert asked(folder) == ["Text edited\nhere", "More edited\nhere"]


@pytest.mark.requirement("I13.4.32")
def test_the_file_of_lines_is_bounded_and_what_is_damaged_in_it_is_passed_over(tmp_path: Path) -> None:
    path, told = tmp_path / FILE, list[str]()
    history = LineHistory(path, Pastes(), told.append)
    path.write_text('{"line": "first"}\nnonsense\n{"line": 1}\n[]\n{"line": "cut')
    assert list(history.load_history_strings()) == ["first"]
    path.unlink()
    for number in range(30):
        history.store_string(f"{number} " + "x" * 100_000)
    history.store_string("y" * 300_000)
    assert path.stat().st_size < 2_200_000
    lines = [json.loads(line)["line"] for line in path.read_text().splitlines()]
    assert lines[-1].startswith("29 ") and 5 < len(lines) < 30
    assert not told
    (tmp_path / "no").touch()
    LineHistory(tmp_path / "no" / FILE, Pastes(), told.append).store_string("lost?")
    assert len(told) == 1 and "are not kept any further" in told[0]
