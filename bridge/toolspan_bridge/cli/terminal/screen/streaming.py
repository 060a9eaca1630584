"""A streamed Markdown text: shown as it comes, and never changed afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.segment import Segment

from toolspan_server.common.visible import VisibleStream

from ..waiting.status_line import unfinished
from .markdown import Block, blocks, drawn
from .terminal import StyledTerminal
from .unclosed import settled_length

__all__ = ["MarkdownStream"]

_Lines = list[list[Segment]]

_ONE_NEW_OF = 16
"""One of so many characters of the open block has to be new before it is drawn again."""


class MarkdownStream:
    """Markdown on ``terminal``, block after block; of the last block what is settled, word by word.

    A table is shown when it is whole, and till then a passing line that counts its rows; a code block comes
    line by line. The longer the open block is, the more has to come before it is drawn again, so that the
    work grows with the length of the text only. After a change of the terminal's width the text goes on in a
    new line, by the new width.
    """

    def __init__(self, terminal: StyledTerminal) -> None:
        self._terminal = terminal
        self._visible = VisibleStream()
        self._text = ""
        """What was written from the beginning of the open block, but for what came since it was drawn."""
        self._came: list[str] = []
        self._length = 0
        self._shown = ""
        """The characters of that block that are on the terminal, without blanks."""
        self._width: int = terminal.width
        self._by_lines = False
        """Whether the open block is shown line by line."""
        self._drawn = 0
        """How many characters of that block there were when it was last drawn."""

    def write(self, piece: str) -> None:
        """Show more of the text."""
        unfinished(self, is_there=True)
        self._take(self._visible.feed(piece))
        if self._is_due(piece):
            self._advance()

    def close(self) -> None:
        """Show what was held back, and end the line. What is written then begins a new text."""
        self._take(self._visible.end())
        for block, source in self._blocks():
            self._show(block, source, is_whole=True)
            self._next("")
        self._text, self._length, self._by_lines, self._drawn = "", 0, False, 0
        self._terminal.end_line()
        unfinished(self, is_there=False)

    def _take(self, piece: str) -> None:
        piece = piece.replace("\r\n", "\n")
        self._came.append(piece)
        self._length += len(piece)

    def _is_due(self, piece: str) -> bool:
        """Whether what came last, ``piece``, has the open block drawn again: at the end of a line or a
        word, when enough of the block is new."""
        ends = "\n" in piece or (not self._by_lines and (" " in piece or "\t" in piece))
        return ends and (self._length - self._drawn) * _ONE_NEW_OF >= self._length

    def _advance(self) -> None:
        found = list(self._blocks())
        for (block, source), (_, following) in pairwise(found):
            self._show(block, source, is_whole=True)
            self._next(following)
        if found:
            block, source = found[-1]
            self._by_lines = block.is_fence or block.is_table
            self._show(block, source, is_whole=False)
        self._drawn = self._length

    def _blocks(self) -> Iterator[tuple[Block, str]]:
        """Each block, and the text from it to the end."""
        self._text = "".join((self._text, *self._came))
        self._came.clear()
        lines = self._text.splitlines(keepends=True)
        for block in blocks(self._text):
            yield block, "".join(lines[block.start :])

    def _next(self, following: str) -> None:
        """The block is shown; ``following`` is the text from the next one on."""
        gap = self._text[: len(self._text) - len(following)] if following else ""
        self._terminal.end_line()
        if re.search(r"\n[ \t]*\n\Z", gap):
            self._terminal.write([Segment("\n")])
        self._text, self._length, self._shown = following, len(following), ""

    def _show(self, block: Block, source: str, *, is_whole: bool) -> None:
        if block.is_table and not is_whole:
            self._terminal.passing((f"table, {_counted(block.rows, 'row')} …", "dim"))
            return
        if not is_whole:
            settled = _settled(block, source)
            found = blocks(source[:settled])
            if len(found) != 1:
                return
            block = found[0]
        self._put(self._terminal.lines(drawn(block)), is_whole=is_whole)

    def _put(self, lines: _Lines, *, is_whole: bool) -> None:
        """Write what of ``lines`` is not shown yet."""
        whole = "".join(_letters(line) for line in lines)
        if whole.startswith(self._shown):
            count = len(self._shown)
        elif is_whole:
            count = _same(whole, self._shown, lines)
            self._terminal.end_line()
        else:
            return
        if len(whole) == count:
            return
        rest = _after(lines, count)
        if self._terminal.width != self._width:
            self._width = self._terminal.width
            if self._terminal.is_open:
                self._terminal.end_line()
                rest[0] = _without_blank(rest[0])
        if not self._terminal.is_open:
            rest = _without_empty(rest)
        self._terminal.write(_joined(rest))
        self._shown = whole


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _settled(block: Block, source: str) -> int:
    return source.rfind("\n") + 1 if block.is_fence else settled_length(source)


def _letters(line: Sequence[Segment]) -> str:
    return "".join("".join(part.text.split()) for part in line)


def _same(whole: str, shown: str, lines: _Lines) -> int:
    """How many letters of the lines before the first one in which ``whole`` and ``shown`` differ."""
    same = next(
        (n for n, pair in enumerate(zip(whole, shown, strict=False)) if pair[0] != pair[1]), len(shown)
    )
    count = 0
    for line in lines:
        if count + len(_letters(line)) > same:
            break
        count += len(_letters(line))
    return count


def _after(lines: _Lines, count: int) -> _Lines:
    """``lines`` from behind the letter number ``count`` on."""
    rest: _Lines = []
    for line in lines:
        letters = len(_letters(line))
        if count >= letters > 0 and count > 0:
            count -= letters
            rest = [[]] if not count else []
        elif count:
            rest = [list(_behind(line, count))] if letters else []
            count = 0 if letters else count
        else:
            rest.append(line)
    return rest


def _behind(line: Sequence[Segment], count: int) -> Iterator[Segment]:
    """The parts of ``line`` behind its letter number ``count``."""
    for part in line:
        place = 0
        while count and place < len(part.text):
            count -= not part.text[place].isspace()
            place += 1
        if part.text[place:]:
            yield Segment(part.text[place:], part.style)


def _without_blank(line: Sequence[Segment]) -> list[Segment]:
    """``line`` without the blank that it begins with."""
    if not line:
        return []
    return [Segment(line[0].text.removeprefix(" "), line[0].style), *line[1:]]


def _without_empty(lines: _Lines) -> _Lines:
    first = next((place for place, line in enumerate(lines) if _letters(line)), len(lines))
    return lines[first:]


def _joined(lines: _Lines) -> Iterator[Segment]:
    """The parts of ``lines`` up to the last letter, with the lines' ends between them."""
    last = max((place for place, line in enumerate(lines) if _letters(line)), default=-1)
    for place, line in enumerate(lines[: last + 1]):
        if place:
            yield Segment("\n")
        text = "".join(part.text for part in line)
        yield from _cut(line, len(text.rstrip()))


def _cut(line: Sequence[Segment], length: int) -> Iterator[Segment]:
    for part in line:
        if part.text[:length]:
            yield Segment(part.text[:length], part.style)
        length = max(length - len(part.text), 0)
