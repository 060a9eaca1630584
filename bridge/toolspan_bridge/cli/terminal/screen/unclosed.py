"""How much of a Markdown text that is still being written looks the same whatever comes next."""

from __future__ import annotations

import re

__all__ = ["settled_length"]

_MARK = re.compile(r"\\.|`+|\*+|_+|~~|\[|\]|\n[ \t]*\n", re.DOTALL)
_TARGET = re.compile(r"\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_FENCE = re.compile(r"^[ \t]*(?:[-*+][ \t]+|\d+[.)][ \t]+|>[ \t]?)*(`{3,}|~{3,})", re.MULTILINE)
_OF_A_RULE = re.compile(r"[ \t|:-]*\Z")
_ONLY_MARKERS = re.compile(r"^(?:[ \t]*(?:[-*+>#]|\d+[.)]))+[ \t]*\Z", re.MULTILINE)


def settled_length(text: str) -> int:
    """How many characters of ``text``, a block of Markdown, are settled.

    Not settled are the last word, the marker of an item without a word behind it, what follows an emphasis,
    a code span, a link or a nested code block that has no end yet, and a line that may become the head of a
    table. A mark that never gets its end is settled by the end of its paragraph.
    """
    settled = min(_word_start(text, len(text)), _head_of_table(text))
    if markers := _ONLY_MARKERS.search(text, 0, settled):
        settled = markers.start()
    while (unclosed := _unclosed(text[:settled])) < settled:
        settled = _word_start(text, unclosed)
    return settled


def _word_start(text: str, place: int) -> int:
    return max(text.rfind(" ", 0, place), text.rfind("\n", 0, place), text.rfind("\t", 0, place)) + 1


def _unclosed(text: str) -> int:
    """Where the first mark without its end is; the text's length if there is none."""
    if (fence := _open_fence(text)) is not None:
        return min(fence, _unclosed(text[:fence]))
    marks: list[tuple[str, int]] = []
    place = 0
    while mark := _MARK.search(text, place):
        place, found = mark.end(), mark.group()
        if found[0] == "\n":
            marks = []
        elif found[0] == "`":
            end = re.compile(f"(?<!`)`{{{len(found)}}}(?!`)").search(text, place)
            paragraph = re.compile(r"\n[ \t]*\n").search(text, place)
            if end is not None and (paragraph is None or end.start() < paragraph.start()):
                place = end.end()
            elif paragraph is None:
                marks.append((found, mark.start()))
                break
        elif found == "]":
            place = _link_end(text, place, marks)
            if place < 0:
                break
        elif found[0] in "*_~[":
            _emphasis(text, mark, marks)
    return marks[0][1] if marks else len(text)


def _emphasis(text: str, mark: re.Match[str], marks: list[tuple[str, int]]) -> None:
    """Add the mark to the open ``marks``, or take out those that it ends."""
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    kind, length = mark.group()[0], len(mark.group())
    if kind == "*" and length == 1 and _in_word(before, after):
        return
    if kind != "[" and before and not before.isspace():
        while length > 0 and (opened := _last(marks, kind)) is not None:
            length -= len(marks[opened][0])
            del marks[opened:]
        if length <= 0:
            return
    intraword = kind == "_" and before.isalnum()
    if not intraword and not after.isspace():
        marks.append((mark.group()[:length], mark.start()))


def _in_word(before: str, after: str) -> bool:
    """Whether a single ``*`` stands for a multiplication and the like: ``2*3``."""
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()


def _last(marks: list[tuple[str, int]], kind: str) -> int | None:
    return next((place for place in reversed(range(len(marks))) if marks[place][0][0] == kind), None)


def _link_end(text: str, place: int, marks: list[tuple[str, int]]) -> int:
    """Where the link ends whose text ends before ``place``; -1 where that is not known yet."""
    opened = _last(marks, "[")
    if opened is None:
        return place
    if place == len(text):
        return -1
    if text[place] == "(":
        target = _TARGET.match(text, place)
        if target is None and "\n" not in text[place:]:
            return -1
        place = target.end() if target else place
    del marks[opened:]
    return place


def _open_fence(text: str) -> int | None:
    """Where the code block begins that has no end yet."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1]):
            opened = None
    return None if opened is None else opened.start()


def _head_of_table(text: str) -> int:
    """Where a line begins that the next one may make the head of a table."""
    last = text.rfind("\n") + 1
    if "|" in text[last:] and not (text[:last].count("|") and _OF_A_RULE.match(text, last)):
        return last
    before = text.rfind("\n", 0, max(last - 1, 0)) + 1
    return before if last and "|" in text[before:last] and _OF_A_RULE.match(text, last) else len(text)
