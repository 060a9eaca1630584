"""What a chat asks the person before a command or a file is taken, on an emulated terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.screens import CTRL_C, CTRL_D, ENTER, Screen
from tests.support.workspace_chats import script

pytestmark = pytest.mark.long

SERVER = """
from toolspan_server.cli.main import main
main(["--config", "other.yaml"])
"""
OTHER = """
name: other
tools:
  registry:
    - {name: weather, description: The weather, implementation: {type: mock, mock_response: {sky: blue}}}
"""
WEATHER = ("weather", dict[str, object]())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "other.yaml").write_text(OTHER)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("inside")
    (tmp_path / "out.txt").write_text("outside")
    return tmp_path


def chat(folder: Path, model: str) -> Screen:
    options = ("--workspace", "work", "--save", "talk.json")
    return Screen("chat", "-m", model, *options, cwd=folder, columns=400, lines=50)


@pytest.mark.requirement("I13.4.26")
def test_a_server_is_added_once_the_person_agrees_and_one_that_hangs_is_left_by_ctrl_c(folder: Path) -> None:
    with chat(folder, script(folder, "first", WEATHER, "blue")) as screen:
        screen.asks()
        screen.type(f"before{ENTER}")
        screen.shows("first")
        screen.asks()
        screen.type(f"/servers add {sys.executable} server.py{ENTER}")
        screen.shows("on this machine, as you, and let the model use its tools? [y/N]")
        screen.type(ENTER)
        screen.shows("nothing was added")
        screen.asks()
        screen.type(f"/servers add {sys.executable} -c 'import time; time.sleep(600)' hangs{ENTER}")
        screen.shows("[y/N]", "[y/N]")
        screen.type(f"y{ENTER}")
        screen.shows("connecting …")
        screen.type(CTRL_C)
        screen.shows("interrupted")
        screen.asks()
        screen.type(f"/servers add {sys.executable} server.py{ENTER}")
        screen.shows("[y/N]", "[y/N]", "[y/N]")
        screen.type(f"y{ENTER}")
        screen.shows("toolspan: server: weather")
        screen.asks()
        screen.type(f"sky?{ENTER}")
        screen.shows("weather()", "blue")
        screen.asks()
        screen.type(CTRL_D)
        assert screen.ended() == 0
    assert '"sky"' in (folder / "talk.json").read_text()


@pytest.mark.requirement("I13.4.35")
def test_a_file_outside_of_the_workspace_is_attached_only_when_the_person_agrees(folder: Path) -> None:
    with chat(folder, script(folder, "one", "two")) as screen:
        screen.asks()
        screen.type(f"See @a.txt and @../out.txt{ENTER}")
        screen.shows("out.txt is outside of", "Send it to the model? [y/N]")
        screen.type(f"n{ENTER}")
        screen.shows("@../out.txt was not sent, and neither was the question")
        screen.asks()
        screen.type(f"See @a.txt and @../out.txt{ENTER}")
        screen.shows("[y/N]", "[y/N]")
        screen.type(f"y{ENTER}")
        screen.shows("attached: a.txt, out.txt", "one")
        screen.asks()
        screen.type(f"See @a.txt{ENTER}")
        screen.shows("attached: a.txt\n", "two")
        screen.asks()
    talk = json.dumps(json.loads((folder / "talk.json").read_text()))
    assert (talk.count('"inside"'), talk.count('"outside"')) == (2, 1)
