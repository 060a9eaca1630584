"""What a chat shows when the person is asked: about a change of a file, and by a form of a server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.screens import CTRL_D, ENTER, Screen
from tests.support.workspace_chats import WORKSPACE, script

pytestmark = pytest.mark.long

FORM = """
tools:
  registry:
    - name: book
      description: Books a table
      implementation:
        type: mock
        steps:
          - ask:
              sure:
                elicitation:
                  message: At which time?
                  requestedSchema:
                    type: object
                    properties: {time: {type: string, title: Time, enum: ["18:00", "20:00"]}}
                    required: [time]
        response: "at {{ answers.sure.content.time }}"
"""


@pytest.mark.requirement("I13.6.3")
def test_a_change_of_a_file_is_approved_by_its_diff_also_after_a_resize(tmp_path: Path) -> None:
    work = tmp_path / WORKSPACE
    work.mkdir()
    (work / "a.txt").write_text("one\ntwo\nthree\n")
    edit = {"file_path": "a.txt", "old_string": "two", "new_string": "zwei"}
    words = "It is *done*, and this line is long enough to be wrapped where the terminal ends."
    model = script(tmp_path, ("Read", {"file_path": "a.txt"}), ("Edit", edit), words)
    arguments = ("chat", "--no-save", "-m", model, "--workspace", WORKSPACE)
    with Screen(*arguments, cwd=tmp_path, columns=90, lines=40) as screen:
        screen.asks()
        screen.type("Translate" + ENTER)
        screen.asks("allow?")
        screen.shows(
            "→ Edit(", "needs approval", "\n   one\n  -two\n  +zwei\n   three\n", "[y] once", "allow?"
        )
        assert screen.style("-two").fg == "red" and screen.style("+zwei").fg == "green"
        screen.resize(50, 40)
        screen.type("y" + ENTER)
        screen.shows(
            "allow? y\n",
            "← Edit(",
            "\nIt is done, and this line is long enough to be\nwrapped where the terminal ends.\n",
        )
        screen.asks()
        assert (work / "a.txt").read_text() == "one\nzwei\nthree\n"
        screen.type(CTRL_D)
        assert screen.ended() == 0


@pytest.mark.requirement("I13.6.3")
def test_what_is_asked_is_broken_between_words_on_forty_columns(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(FORM)
    model = script(tmp_path, ("book", {}), "Booked.")
    arguments = ("chat", "--trust", "--no-save", "-m", model)
    with Screen(*arguments, cwd=tmp_path, columns=40, lines=40) as screen:
        screen.asks()
        screen.type("A table, please" + ENTER)
        screen.asks("answer?")
        screen.shows(
            "book of the server 'toolspan' asks:\n  At which time?\n"
            "  What you write goes to that server.\n    Never give it passwords, keys or\n    card numbers.\n"
            "  [a] answer  [d] decline\n  [Ctrl+D] leave it\n"
        )


@pytest.mark.requirement("I13.6.3")
def test_a_form_is_filled_in_between_call_and_result(tmp_path: Path) -> None:
    (tmp_path / "toolspan.yaml").write_text(FORM)
    model = script(tmp_path, ("book", {}), "Booked.")
    with Screen("chat", "--trust", "--no-save", "-m", model, cwd=tmp_path, lines=40) as screen:
        screen.asks()
        screen.type("A table, please" + ENTER)
        screen.asks("answer?")
        screen.type("a" + ENTER)
        screen.asks("Time:")
        screen.shows("→ book()\n", "asks:\n  At which time?\n", "  Time (time): one by its number, needed\n")
        assert screen.style("Never give it").fg == "red"
        screen.type("2" + ENTER)
        screen.asks("send?")
        screen.type("s" + ENTER)
        screen.shows("  time: 20:00\n", "send? s\n", "← book(): at 20:00  ", "\n\nBooked.\n", "you>")
        screen.asks()
        screen.type(CTRL_D)
        assert screen.ended() == 0
