"""A terminal that is written on with styles, line after line; nothing that was shown is changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style
from rich.theme import Theme

from toolspan_server.common.visible import visible

from ..waiting.status_line import START_AND_CLEAR, cleared, occupy
from ..width import columns_of

__all__ = ["Styled", "StyledTerminal"]

Styled = tuple[str, str | Style]
"""A text, and its style, which may be written as ``rich`` reads it (``"dim"``, ``"bold red"``); ``""`` is
none."""

_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "bold",
        "markdown.h5": "bold",
        "markdown.h6": "bold",
        "markdown.code": "cyan",
        "markdown.code_block": "",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.hr": "dim",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)
_NARROWEST = 20
_HEIGHT = 25
"""Nothing depends on it, but without a height ``rich`` takes every dumb terminal for 80 columns wide."""
_PLAIN = str.maketrans(
    {
        "•": "*",
        "─": "-",
        "━": "=",
        "╸": "-",
        "╺": "-",
        "│": "|",
        "▌": ">",
        "…": "~",
        "→": ">",
        "←": "<",
        "·": "-",
        "–": "-",
        "✓": "+",
        "✗": "x",
    }
)
"""What stands for characters of ours where the terminal's encoding lacks them."""


class StyledTerminal:
    """Writes on the terminal ``file``. Colours are left out as ``NO_COLOR`` and ``TERM`` say."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._console = Console(
            file=file,
            theme=_THEME,
            highlight=False,
            markup=False,
            emoji=False,
            width=self.width,
            height=_HEIGHT,
        )
        self.is_open = False
        """Whether the last line has no end yet."""
        self._passes = False
        """Whether the line of the cursor is to be erased before anything else is written."""
        self._passing: list[Styled] = []
        self._since = ""
        """For how long what the passing line says has been waited for, in words."""

    @property
    def file(self) -> IO[str]:
        """The terminal itself."""
        return self._file

    @property
    def width(self) -> int:
        """The columns that may be written on now: one less than there are, as some terminals go on to the
        next line at once after the last."""
        return max(_NARROWEST, columns_of(self._file)) - 1

    @property
    def can_erase(self) -> bool:
        """Whether a line can be erased."""
        return not self._console.is_dumb_terminal

    def lines(self, picture: RenderableType) -> list[list[Segment]]:
        """The lines of ``picture`` at the present width."""
        self._console.width = self.width
        segments = self._console.render(picture, self._console.options.update(height=None))
        return [[part for part in line if not part.control] for line in Segment.split_lines(segments)]

    def write(self, parts: Iterable[Segment]) -> None:
        """Write ``parts`` where the cursor is."""
        shown = [Segment(self._writable(part.text), part.style) for part in parts if part.text]
        if not shown:
            return
        self.erase()
        self._print(shown)
        self.is_open = not shown[-1].text.endswith("\n")
        occupy(self, is_there=self.is_open)

    def passing(self, *parts: Styled | Segment, timed: bool = False) -> None:
        """Show a line that is gone when the next thing is written; nothing where lines cannot be erased.
        ``timed``: while it is waited for, the line ends with for how long."""
        if not self.can_erase:
            return
        self.end_line()
        self._since = self._since if self._passes and timed else ""
        whole = [(part.text, part.style or "") if isinstance(part, Segment) else part for part in parts]
        self._passing = [(_one_line(text), style) for text, style in whole]
        self._pass()
        occupy(self, is_there=True, again=self._pass_on if timed else None)

    def _pass_on(self, since: str) -> None:
        if since != self._since:
            self._since = since
            self._pass()

    def _pass(self) -> None:
        """Draw the passing line anew; the cursor stays at its beginning."""
        since = f" · {self._since}" if self._since else ""
        cut = [*_cut(self._passing, self.width - len(since)), (since, "dim")]
        if self._passes:
            self._file.write(START_AND_CLEAR)
        self._print([*(Segment(self._writable(text), _style(style)) for text, style in cut), Segment("\r")])
        self._passes = True

    def erase(self) -> None:
        """Erase the passing line, if there is one."""
        if self._passes:
            self._passes = False
            self._file.write(START_AND_CLEAR)
            self._file.flush()
            occupy(self, is_there=self.is_open)

    def _print(self, parts: list[Segment]) -> None:
        cleared()
        self._console.print(Segments(parts), end="", soft_wrap=True)
        self._file.flush()

    def draw(self, sequence: str) -> None:
        """Write ``sequence``, control characters that this program made, in lines of its own."""
        self.end_line()
        self.erase()
        cleared()
        self._file.write(f"{sequence}\n")
        self._file.flush()

    def line(self, *parts: Styled) -> None:
        """Write a line of its own."""
        self.end_line()
        self.write([*(Segment(text, _style(style)) for text, style in parts), Segment("\n")])

    def short_line(self, *parts: Styled, kept: int = 0) -> None:
        """The same, cut to the width with ``…``; the last ``kept`` parts are never cut."""
        whole = [(_one_line(text), style) for text, style in parts]
        first, last = (whole[:-kept], whole[-kept:]) if kept else (whole, [])
        left = max(self.width - sum(cell_len(text) for text, _ in last), _NARROWEST // 2)
        self.line(*_cut(first, left), *last)

    def end_line(self) -> None:
        """End the open line, if there is one."""
        if self.is_open:
            self.write([Segment("\n")])

    def _writable(self, text: str) -> str:
        encoding = getattr(self._file, "encoding", None) or "utf-8"
        text = visible(text)
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
        return text


def _beginning(text: str, width: int) -> str:
    """As much of ``text`` as has room in ``width`` columns."""
    shown = text[: max(width, 0)]
    while cell_len(shown) > width > 0:
        shown = shown[:-1]
    return shown


def _style(style: str | Style) -> Style:
    return style if isinstance(style, Style) else Style.parse(style)


def _one_line(text: str) -> str:
    return " ".join(visible(text).split("\n"))


def _cut(parts: Iterable[Styled], width: int) -> list[Styled]:
    """``parts`` within ``width`` columns, the last one with ``…`` where they are longer."""
    cut: list[Styled] = []
    for text, style in parts:
        if cell_len(text) > width:
            return [*cut, (_beginning(text, width - 1) + "…", style)]
        cut.append((text, style))
        width -= cell_len(text)
    return cut
