"""Markdown on a terminal, as it comes: every way of cutting it shows the same, and nothing is taken back."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import pytest
from rich.console import RenderableType
from rich.segment import Segment

from toolspan_bridge.cli.terminal.screen.streaming import MarkdownStream
from toolspan_bridge.cli.terminal.screen.terminal import StyledTerminal

pytestmark = pytest.mark.requirement("I13.4.40")

TEXT = """\
# A *title*

It rains in **Oslo and `a b`**, 2*3*4 is 24, a snake_case_name stays; [the docs](https://example.org/a_(b)).
Its second line, <b>html</b> and ![a picture](a.png), *unclosed.

10. **Ten**: words that are wrapped at the end of the line, for there are too many of them to stay on it
11. Eleven
    - nested

      ```sh
      echo "one    two"
      ```

```python
def hello(name: str) -> None:

    print(f"Hello {name}")
```
| name | amount |
|------|-------:|
| one  |   1.50 |

> Quoted.

---
Done.
"""
WIDE = """\
A title

It rains in Oslo and a b, 2*3*4 is 24, a snake_case_name
stays; the docs (https://example.org/a_(b)).
Its second line, <b>html</b> and a picture (a.png),
*unclosed.

 10 Ten: words that are wrapped at the end of the line, for
    there are too many of them to stay on it
 11 Eleven
     • nested
         echo "one    two"

  def hello(name: str) -> None:

      print(f"Hello {name}")
 name  amount
 ────────────
 one     1.50

▌ Quoted.

────────────────────
Done.
"""
PASSED = re.compile(r"[^\n]*\r\x1b\[J")
"""A line that was erased."""


def shown(text: str, pieces: list[int], columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    file = io.StringIO()
    stream = MarkdownStream(StyledTerminal(file))
    for length in pieces:
        stream.write(text[:length])
        text = text[length:]
    stream.write(text)
    stream.close()
    left = PASSED.sub("", file.getvalue())
    return "\n".join(line.rstrip() for line in left.split("\n"))


def test_markdown_is_drawn_with_its_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(TEXT, [], 60, monkeypatch) == WIDE


@pytest.mark.parametrize("seed", range(6))
def test_however_a_text_is_cut_it_is_shown_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)
    pieces = [dice.randint(1, 1 + 4 * seed) for _ in TEXT]
    columns = dice.choice([21, 40, 60, 200])
    assert shown(TEXT, pieces, columns, monkeypatch) == shown(TEXT, [], columns, monkeypatch)


def test_words_are_shown_once_they_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    file = io.StringIO()
    stream = MarkdownStream(StyledTerminal(file))
    seen: list[str] = []
    for piece in ("It ra", "ins in ", "**Os", "lo, ", "Norway** and ", "`so ", "on` e"):
        stream.write(piece)
        seen.append(file.getvalue())
    stream.close()
    shown = ["It", "It rains in", "It rains in Oslo, Norway and", "It rains in Oslo, Norway and so on"]
    assert seen == [shown[0], shown[1], shown[1], shown[1], shown[2], shown[2], shown[3]]
    assert all(file.getvalue().startswith(each) for each in seen)
    assert file.getvalue() == "It rains in Oslo, Norway and so on e\n"


@pytest.mark.requirement("I13.4.46")
@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "count"),
    [("many words of one paragraph that has no end ", 500), ("print(1)  # a line of code\n", 800)],
    ids=["paragraph", "code"],
)
def test_a_block_is_not_drawn_for_each_of_its_words(
    line: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = StyledTerminal(io.StringIO())
    stream, drawn = MarkdownStream(terminal), 0
    draw = terminal.lines

    def counted(picture: RenderableType) -> list[list[Segment]]:
        nonlocal drawn
        lines = draw(picture)
        drawn += sum(len(part.text) for line in lines for part in line)
        return lines

    monkeypatch.setattr(terminal, "lines", counted)
    text = ("```python\n" if line.endswith("\n") else "") + line * count
    for word in re.findall(r"\S+\s+", text):
        stream.write(word)
    stream.close()
    assert drawn < 40 * len(text)


@pytest.mark.requirement("I13.4.46")
def test_while_a_table_comes_its_rows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    file = io.StringIO()
    stream = MarkdownStream(StyledTerminal(file))
    for line in ("Rain:\n\n", "| place | rain |\n", "|---|---|\n", "| Oslo | 2 |\n", "| Rome | 0 |\n"):
        stream.write(line)
    assert file.getvalue().endswith("\r\x1b[Jtable, 2 rows …\r")
    stream.close()
    assert PASSED.sub("", file.getvalue()).replace("─", "-").split("\n") == [
        "Rain:", "", " place  rain", " -----------", " Oslo   2", " Rome   0", "",
    ]  # fmt: skip


def test_after_a_resize_the_text_goes_on_by_the_new_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "41")
    file = io.StringIO()
    stream = MarkdownStream(StyledTerminal(file))
    stream.write("one two three four five six seven eight nine ")
    monkeypatch.setenv("COLUMNS", "25")
    stream.write("ten eleven twelve thirteen fourteen fifteen ")
    stream.close()
    assert file.getvalue() == (
        "one two three four five six seven eight\nnine\nten\neleven twelve thirteen\nfourteen fifteen\n"
    )


def test_nothing_in_a_text_acts_on_the_terminal_or_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "a \x1b]52;c;QUJD\x07 `\x9b2J` &#x202e; [x](http://a/\x1b[1m) \u200b\n\n```\n\x1b[2J\n```\n"
    text = shown(hostile, [3, 1, 1, 1], 60, monkeypatch)
    assert "\x1b" not in text and not {"\x07", "\x9b", "\u202e", "\u200b"} & set(text)
    assert r"\x1b]52;c;QUJD\x07" in text and r"\u202e" in text


@pytest.mark.parametrize("name", ["README.md", "docs/how-to/models.md"])
@pytest.mark.long
def test_whole_documents_are_shown_the_same_however_they_come(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[5] / name).read_text()
    pieces = [1 + place % 7 for place in range(len(text) // 4)]
    assert shown(text, pieces, 80, monkeypatch) == shown(text, [], 80, monkeypatch)


def test_a_terminal_of_another_encoding_gets_only_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    raw = io.BytesIO()
    stream = MarkdownStream(StyledTerminal(io.TextIOWrapper(raw, encoding="latin-1")))
    stream.write("- 12 °C → 日本\n\n---\n")
    stream.close()
    assert raw.getvalue().decode("latin-1") == " * 12 °C > \\u65e5\\u672c\n\n--------------------\n"


def test_colours_are_left_out_where_the_person_or_the_terminal_wants_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def codes(**environment: str) -> str:
        for name, value in {"TERM": "xterm-256color", "NO_COLOR": "", **environment}.items():
            monkeypatch.setenv(name, value)
        file = Terminal()
        stream = MarkdownStream(StyledTerminal(file))
        stream.write("**bold** and `code`\n")
        stream.close()
        return file.getvalue()

    assert "\x1b[1m" in codes() and "\x1b[36m" in codes()
    assert "\x1b[1m" in codes(NO_COLOR="1") and "\x1b[36m" not in codes(NO_COLOR="1")
    assert codes(TERM="dumb") == "bold and code\n"
