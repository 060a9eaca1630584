"""Markdown: ATX and setext headings, which count only outside fenced code."""

from __future__ import annotations

import re
from threading import Event

from .._document import Document, Outline
from ._decoding import decode

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*)|\Z)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]|\||<)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_ATTRIBUTES = re.compile(r"\{[#.:][^{}]*\}$")
_FRONT_MATTER_TITLE = re.compile(r"title:(.+)", re.IGNORECASE)
_FRONT_MATTER_LINES = 200


def read(data: bytes, stop: Event) -> Document:
    """Read Markdown (CommonMark's rules for headings and fences)."""
    lines = decode(data).split("\n")
    outline = Outline()
    title, start = _front_matter(lines)
    for line in lines[1 : max(start - 1, 1)]:
        outline.text(line + "\n")
    body = _Body(outline)
    for line in lines[start:]:
        body.line(line)
    body.end()
    return outline.document(title)


def _front_matter(lines: list[str]) -> tuple[str, int]:
    """The front matter's title, and the number of lines that it takes."""
    if lines[0].rstrip() != "---":
        return "", 0
    title = ""
    for number, line in enumerate(lines[1:_FRONT_MATTER_LINES], start=1):
        if line.rstrip() in {"---", "..."}:
            return title, number + 1
        if found := _FRONT_MATTER_TITLE.match(line):
            title = found[1].strip().strip("\"'")
    return "", 0


class _Body:
    """Takes line after line. A line waits until it is known not to be a setext heading."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._fence = ""
        self._paragraph: list[str] = []

    def line(self, line: str) -> None:
        if self._fence:
            self._inside_fence(line)
        elif (fence := _FENCE.match(line)) and not (fence[1][0] == "`" and "`" in fence[2]):
            self._fence = fence[1]
            self._text(line)
        elif atx := _ATX.match(line):
            self._text()
            self._outline.heading(len(atx[1]), _plain(_without_closing(atx[2] or "")))
        elif self._paragraph and (setext := _SETEXT.match(line)):
            heading = " ".join(self._paragraph)
            self._paragraph.clear()
            self._outline.heading(1 if setext[1][0] == "=" else 2, _plain(heading))
        elif _NO_PARAGRAPH.match(line) and not (
            self._paragraph and line.startswith((" ", "\t")) and line.strip()
        ):
            self._text(line)
        else:
            self._paragraph.append(line)

    def end(self) -> None:
        self._text()

    def _inside_fence(self, line: str) -> None:
        mark = line.strip()
        if mark.startswith(self._fence) and not mark.strip(self._fence[0]) and not line.startswith("    "):
            self._fence = ""
        self._text(line)

    def _text(self, *lines: str) -> None:
        for line in (*self._paragraph, *lines):
            self._outline.text(line + "\n")
        self._paragraph.clear()


def _without_closing(heading: str) -> str:
    """An ATX heading without the number signs that may close it."""
    heading = heading.rstrip()
    bare = heading.rstrip("#")
    return bare if not bare or bare[-1].isspace() else heading


def _plain(heading: str) -> str:
    """A heading's text without link targets, attributes and code marks."""
    return _LINK.sub(r"\1", _ATTRIBUTES.sub("", heading.rstrip())).replace("`", "").strip()
