"""The HTML parser. In a module of its own because ``html.parser`` is imported when first needed."""

from __future__ import annotations

from html.parser import HTMLParser

from typing_extensions import override

from .._document import Outline
from ._decoding import without_controls

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_DROPPED = {"script", "style", "template", "nav", "svg", "noscript"}
_BLOCKS = """
address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr li
main ol p pre section summary table tr ul
"""
_PARAGRAPHS = frozenset(_BLOCKS.split())


class HtmlText(HTMLParser):
    """Sends headings and text to an outline. White space outside ``<pre>`` is one space."""

    def __init__(self, outline: Outline) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._outline = outline
        self._words: list[str] = []
        self._dropped: list[str] = []
        self._heading = 0
        self._in_title = False
        self._pre = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropped or tag in _DROPPED:
            if tag in _DROPPED:
                self._dropped.append(tag)
        elif tag in _HEADINGS:
            self._flush()
            self._heading = _HEADINGS[tag]
        elif tag == "title":
            self._flush()
            self._in_title = True
        elif tag == "br":
            self._words.append("\n")
        elif tag in {"td", "th"}:
            self._words.append(" ")
        elif tag in _PARAGRAPHS:
            self._flush()
            self._pre += tag == "pre"

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _DROPPED:
            self.handle_starttag(tag, attrs)

    @override
    def handle_endtag(self, tag: str) -> None:
        if self._dropped:
            if tag in self._dropped:
                del self._dropped[self._dropped.index(tag) :]
        elif tag in _HEADINGS or tag in _PARAGRAPHS or tag == "title":
            self._flush()
            self._pre = max(0, self._pre - (tag == "pre"))

    @override
    def handle_data(self, data: str) -> None:
        if self._dropped:
            return
        data = without_controls(data)
        if self._pre:
            self._words.append(data)
            return
        before, after = " " * data[:1].isspace(), " " * data[-1:].isspace()
        self._words.append(before + " ".join(data.split()) + after)

    def finish(self) -> None:
        """Send what is left."""
        self._flush()

    def _flush(self) -> None:
        text = "".join(self._words)
        self._words.clear()
        heading, self._heading = self._heading, 0
        titled, self._in_title = self._in_title, False
        if not text.strip():
            return
        if heading:
            self._outline.heading(heading, text.replace("¶", ""))
        elif titled:
            self.title = self.title or " ".join(text.split())
        else:
            self._outline.text((text if self._pre else _squeezed(text)) + "\n\n")


def _squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().split("\n"))
