"""What a chat shows of questions, calls and answers."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.screens import CTRL_D, CTRL_O, ENTER, Screen
from tests.support.terminal import Terminal
from tests.support.workspace_chats import script

pytestmark = pytest.mark.long

CONFIG = """
tools:
  registry:
    - name: weather
      description: Weather
      parameters: {type: object, properties: {place: {type: string}}, required: [place]}
      implementation:
        type: mock
        rules: [{when: {place: Rome}, error: {message: No such place}}]
        response: "rain at {{ place }}"
    - name: report
      description: Report
      implementation: {type: mock, response: "one\\ntwo\\nthree\\nfour\\nfive"}
"""
ANSWER = """\
## Weather

It **rains** in `Oslo`, says [the service](https://example.org/oslo), and in 東京.

| place | rain |
|-------|-----:|
| Oslo  |  2.5 |
| 東京  |   11 |

1. Take an umbrella
2. Or stay:

   ```python
   stay(at="home")  # today
   ```
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "toolspan.yaml").write_text(CONFIG)
    return tmp_path


@pytest.mark.requirement("I13.6.1", "I13.4.42", "I13.4.40")
def test_calls_and_an_answer_in_markdown_on_sixty_columns(folder: Path) -> None:
    places = [("weather", {"place": place}) for place in ("Oslo", "Rome")]
    model = script(folder, places, ("report", {}), ANSWER)
    with Screen("chat", "--trust", "--no-save", "-m", model, cwd=folder, columns=60, lines=40) as screen:
        screen.asks()
        screen.type("How is the weather?" + ENTER)
        screen.shows("stay(at=", "\nyou>")
        screen.asks()
        screen.becomes("""
            Toolspan
              model      scripted/turns.yaml · never tried (toolspan v…
              tools      2 · toolspan 2
              Ask anything. /help for commands, Ctrl+D leaves.
            you> How is the weather?
            → weather(place=Oslo)
            → weather(place=Rome)
            ← weather(place=Oslo): rain at Oslo  # ms · 12 B
            ← weather(place=Rome): failed: No such place  # ms · 13 B
            → report()
            ← 5 lines  # ms · 23 B · /show 1
              one
              two
              three
              … 2 more lines

            Weather

            It rains in Oslo, says the service
            (https://example.org/oslo), and in 東京.

             place  rain
             ───────────
             Oslo    2.5
             東京     11

             1 Take an umbrella
             2 Or stay:
                 stay(at="home")  # today
            you>

            scripted/turns.yaml
        """)
        assert screen.style("Weather").bold and screen.style("rains").bold
        assert screen.style("failed").fg == "red" and screen.style("Oslo, says").fg == "cyan"
        assert screen.style('"home"').fg == "green"
        screen.type(CTRL_O)
        screen.shows("1  report()\n{}\n\none\ntwo\nthree\nfour\nfive\n")
        screen.asks()
        screen.type(CTRL_D)
        assert screen.ended() == 0


@pytest.mark.requirement("I13.6.2")
def test_a_dumb_terminal_gets_the_same_words_and_no_codes(folder: Path) -> None:
    model = script(folder, [("weather", {"place": "Rome"})], ANSWER)
    plain = {"TERM": "dumb"}
    arguments = ("ask", "How?", "--trust", "--no-save", "-m", model)
    with Screen(*arguments, cwd=folder, columns=40, environment=plain) as screen:
        assert screen.ended() == 0
        shown = "→" + screen.timeless.partition("→")[2]  # behind what it may have waited for
        assert shown == dedent("""\
            → weather(place=Rome)
            ← failed: No such place  # ms · 13 B

            Weather

            It rains in Oslo, says the service
            (https://example.org/oslo), and in
            東京.

             place  rain
             ───────────
             Oslo    2.5
             東京     11

             1 Take an umbrella
             2 Or stay:
                 stay(at="home")  # today""")
        assert "\x1b" not in screen.shown


@pytest.mark.requirement("I13.6.2")
def test_without_colours_everything_is_still_told_apart(folder: Path) -> None:
    model = script(folder, [("weather", {"place": "Rome"})], ANSWER)
    arguments = ("ask", "How?", "--trust", "--no-save", "-m", model)
    with Screen(*arguments, cwd=folder, environment={"NO_COLOR": "1"}) as screen:
        assert screen.ended() == 0
        assert screen.style("failed").fg == "default" and screen.style("Weather").bold


@pytest.mark.requirement("I13.4.71")
def test_the_prompt_of_a_dumb_terminal_has_no_codes(tmp_path: Path) -> None:
    (tmp_path / "turns.yaml").write_text("turns: [{text: Good day!}]")
    arguments = ("chat", "--trust", "--no-save", "-m", "scripted/turns.yaml")
    with Terminal(*arguments, cwd=tmp_path, environment={"TERM": "dumb"}) as terminal:
        terminal.until("you> ")
        terminal.type("hello\r")
        terminal.until("Good day!")
        terminal.until("you> ")
        terminal.type(CTRL_D)
        assert terminal.ended() == 0
        assert "\x1b" not in terminal.shown
