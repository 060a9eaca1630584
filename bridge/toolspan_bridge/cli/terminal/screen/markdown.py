"""Markdown as blocks that can be shown one after the other, each drawn by ``rich``.

The dialect is CommonMark with tables and strike-through, and differs where a text would be lost or would have
to be drawn anew: HTML is text, a line of ``=`` or ``-`` makes no heading of the line above it, there are no
link definitions, a line's end is one, ``2*3*4`` has no emphasis, and a link is shown with its address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from pygments.token import Comment, Generic, Keyword, Name, Number, String
from pygments.token import Token as AnyToken
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, HorizontalRule, Markdown
from rich.padding import Padding
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text
from typing_extensions import override

__all__ = ["Block", "blocks", "drawn"]

_NO_BLOCKS = ("lheading", "reference", "html_block")
_LONGEST_RULE = 20
_CODE_INDENT = 2
_CODE_COLOURS = ANSISyntaxTheme(
    {
        AnyToken: Style(),
        Comment: Style(dim=True),
        Keyword: Style(color="magenta"),
        Name.Function: Style(color="cyan"),
        Name.Class: Style(color="cyan"),
        Name.Decorator: Style(color="yellow"),
        Name.Tag: Style(color="magenta"),
        Name.Attribute: Style(color="cyan"),
        String: Style(color="green"),
        Number: Style(color="yellow"),
        Generic.Inserted: Style(color="green"),
        Generic.Deleted: Style(color="red"),
        Generic.Heading: Style(bold=True),
    }
)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading, a table …, or one item of a list: from the line ``start`` of the text on.

    ``is_fence``: a code block between fences, whose lines come one by one. ``is_table``: the columns are as
    wide as their longest cells."""

    start: int
    tokens: Sequence[Token]

    @property
    def is_fence(self) -> bool:
        return self.tokens[0].type == "fence"

    @property
    def is_table(self) -> bool:
        return self.tokens[0].type == "table_open"

    @property
    def rows(self) -> int:
        """The rows of a table under its head."""
        return max(sum(token.type == "tr_open" for token in self.tokens) - 1, 0)


def blocks(text: str) -> list[Block]:
    """The blocks of ``text``, in order."""
    found: list[Block] = []
    top: list[Token] = []
    for token in _parser().parse(text):
        top.append(token)
        if token.level == 0 and token.nesting <= 0:
            found += _items(top) if top[0].type.endswith("_list_open") else [_block(top)]
            top = []
    return found


def drawn(block: Block) -> Markdown:
    """What ``rich`` draws for ``block``."""
    picture = copy(_nothing())
    picture.parsed = [_changed(token) for token in block.tokens]
    return picture


def _block(tokens: Sequence[Token]) -> Block:
    return Block((tokens[0].map or [0])[0], tokens)


def _items(tokens: Sequence[Token]) -> Iterator[Block]:
    """The items of a list, each as a list of its own that counts from its number on."""
    opening, *inner, closing = tokens
    item: list[Token] = []
    for token in inner:
        item.append(token)
        if token.level == 1 and token.nesting == -1:
            start = {"start": int(item[0].info)} if item[0].info else {}
            head = opening.copy(attrs={**opening.attrs, **start}, map=item[0].map)
            yield _block([head, *item, closing])
            item = []


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable([*_NO_BLOCKS, "html_inline"])
    parser.inline.ruler.before("emphasis", "multiplication", _multiplication)
    return parser


def _multiplication(state: StateInline, silent: bool) -> bool:
    """A single ``*`` between ASCII letters or digits is no emphasis."""
    around = state.src[max(state.pos - 1, 0) : state.pos + 2]
    if len(around) != 3 or around[1] != "*" or not (around[0] + around[2]).isalnum() or not around.isascii():
        return False
    if not silent:
        state.pending += "*"
    state.pos += 1
    return True


def _changed(token: Token) -> Token:
    """``token`` with each end of a line as one, and with images and links as text and address."""
    if token.children is None or token.type != "inline":
        return token
    return token.copy(children=list(_inline(token.children)))


def _inline(children: Sequence[Token]) -> Iterator[Token]:
    shows_address = True
    for place, token in enumerate(children):
        if token.type == "softbreak":
            yield token.copy(type="hardbreak")
        elif token.type == "image":
            yield Token("link_open", "a", 1, attrs={"href": _address(str(token.attrs.get("src", "")))})
            yield Token("text", "", 0, content=token.content or "image")
            yield Token("link_close", "a", -1)
        elif token.type == "link_open":
            after = children[place + 1 : place + 3]
            shows_address = not (
                len(after) == 2
                and after[1].type == "link_close"
                and str(token.attrs.get("href", "")).endswith(after[0].content or "\n")
            )
            if shows_address:
                yield token
        elif token.type != "link_close" or shows_address:
            yield token


def _address(source: str) -> str:
    """``source`` of an image; of one that holds the image itself only what it is."""
    return f"{source.partition(',')[0]},…" if source.startswith("data:") else source


class _Heading(Heading):
    """A heading at the left margin."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Code(CodeBlock):
    """A code block whose lines are left as long as they are, so that they can be copied; in a list they are
    broken."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        syntax = Syntax("", self.lexer_name, theme=_CODE_COLOURS, background_color="default")
        code = syntax.highlight(str(self.text).rstrip("\n"))
        code.rstrip()
        if options.max_width < console.width:
            yield Padding(code, (0, 0, 0, _CODE_INDENT))
            return
        for line in code.split("\n", allow_blank=True):
            yield Text(" " * _CODE_INDENT, end="")
            line.no_wrap, line.overflow = True, "ignore"
            yield line


class _Rule(HorizontalRule):
    """A short line, whatever the width."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * min(_LONGEST_RULE, options.max_width), style="markdown.hr")


class _Drawn(Markdown):
    elements: ClassVar[dict[str, Any]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "hr": _Rule,
    }


@cache
def _nothing() -> _Drawn:
    """A picture of nothing: a copy of it needs no parser of its own, as each new one would."""
    return _Drawn("", hyperlinks=False)
