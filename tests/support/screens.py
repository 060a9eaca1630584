"""A program on an emulated terminal (pyte): the screen that a person would see, with its colours."""

from __future__ import annotations

import re
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pyte
from pyte.screens import Char
from typing_extensions import override
from wcwidth import wcwidth

from tests.support.terminal import Terminal

CTRL_C, CTRL_D, CTRL_O, ENTER = "\x03", "\x04", "\x0f", "\r"
_TIMES = re.compile(r"\b\d+(?:\.\d+)? (ms|s)\b")
_EMPTY_LINES = re.compile(r"\n{3,}")
_KEPT_LINES = 10_000


class Screen(Terminal):
    """Runs ``toolspan ARGUMENTS`` on a terminal of ``columns`` and ``lines``; every wait is bounded.

    Questions of the program to the terminal (where is the cursor?) are answered. What was shown stays
    readable after it has scrolled out at the top.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        columns: int = 80,
        lines: int = 24,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._screen = pyte.HistoryScreen(columns, lines, history=_KEPT_LINES)
        self._screen.write_process_input = self.type
        self._stream = pyte.Stream(self._screen)
        own = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "", **(environment or {})}
        super().__init__(*arguments, cwd=cwd, size=(lines, columns), environment=own)

    @property
    def text(self) -> str:
        """Everything above the end of the screen, what has scrolled out too; without blanks at the ends of
        lines, and without the empty lines at the bottom."""
        return "\n".join(_text(row, self._screen.columns).rstrip() for row in self._rows()).rstrip("\n")

    @property
    def timeless(self) -> str:
        """``text`` with ``# ms`` or ``# s`` in the place of each duration."""
        return _TIMES.sub(r"# \1", self.text)

    def becomes(self, expected: str) -> None:
        """Read until ``timeless`` is ``expected``, which may be indented; the empty lines between the prompt
        and what stands at the bottom are one."""
        wanted = dedent(expected).strip("\n")
        self._until(
            lambda: _EMPTY_LINES.sub("\n\n", self.timeless) == wanted,
            f"the screen did not become\n{wanted}\n",
        )

    def shows(self, *texts: str) -> None:
        """Read until each of ``texts`` is there, one after the other from the top."""
        pattern = re.compile(".*?".join(map(re.escape, texts)), re.DOTALL)
        self._until(lambda: pattern.search(self.text) is not None, f"{texts} are not on the screen")

    def matches(self, pattern: str) -> None:
        """Read until the regular expression ``pattern`` is found."""
        self._until(lambda: re.search(pattern, self.text) is not None, f"{pattern} is not on the screen")

    def asks(self, prompt: str = "you>") -> None:
        """Read until the cursor waits behind ``prompt``, with nothing else in its line."""
        self._until(lambda: self._cursor_line() == prompt, f"the prompt {prompt!r} did not come")

    @property
    def bottom(self) -> str:
        """The last line of the screen."""
        return _text(self._screen.buffer[self._screen.lines - 1], self._screen.columns).rstrip()

    def has_below(self, expected: str) -> None:
        """Read until the last line of the screen is ``expected``."""
        self._until(lambda: self.bottom == expected, f"the last line did not become {expected!r}")

    def style(self, text: str) -> Char:
        """How the first character of the last ``text`` is shown: ``fg``, ``bold``, ``italics``,
        ``underscore``, ``reverse`` …"""
        for row in reversed(list(self._rows())):
            if (place := _text(row, self._screen.columns).rfind(text)) >= 0:
                before = _text(row, self._screen.columns)[:place]
                return row[sum(max(wcwidth(each), 0) for each in before)]
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text}")

    def resize(self, columns: int, lines: int = 24) -> None:
        """Give the terminal another size, and tell the program. Longer lines are cut, as xterm does."""
        self._screen.resize(lines, columns)
        termios.tcsetwinsize(self._ours, (lines, columns))

    @override
    def __str__(self) -> str:
        return self.text

    @override
    def _received(self, text: str) -> None:
        self._stream.feed(text)

    def _until(self, holds: Callable[[], bool], failure: str) -> None:
        """Read until ``holds`` says yes; else the test fails with ``failure``."""
        end = time.monotonic() + self._patience
        while not holds():
            assert self._read(end, failure), f"{failure}; the program ended; shown:\n{self}"

    def _rows(self) -> Iterator[Mapping[int, Char]]:
        yield from self._screen.history.top
        yield from (self._screen.buffer[number] for number in range(self._screen.lines))

    def _cursor_line(self) -> str:
        cursor = self._screen.cursor
        line = _text(self._screen.buffer[cursor.y], self._screen.columns).rstrip()
        return line if cursor.x > len(line) else ""


def _text(row: Mapping[int, Char], columns: int) -> str:
    """The characters of a row; the second half of a wide one is an empty cell."""
    return "".join(row[place].data for place in range(columns))
