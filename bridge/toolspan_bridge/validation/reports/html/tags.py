"""HTML as text that is safe by its type: what is not ``Html`` is escaped when it is put into a tag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from toolspan_server.common.visible import visible

__all__ = ["Html", "breakable", "code", "joined", "table", "tag", "text"]

_MOST_CHARACTERS = 4_000
_JOINT = re.compile("([/:_.-])(?=[^<]{3})")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *contents: str | Html, **attributes: str) -> Html:
    """The element ``name`` with ``contents``. ``class_`` is the attribute ``class``, ``aria_label``
    ``aria-label``; an empty one is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items() if value
    )
    return Html(f"<{name}{written}>{joined(contents)}</{name}>")


def joined(contents: Iterable[str | Html]) -> Html:
    """``contents`` one after the other."""
    return Html("".join(each if isinstance(each, Html) else text(each) for each in contents))


def text(words: str) -> Html:
    """``words`` as they are to be read, with what would be hidden or act written out."""
    return Html(escape(visible(words)))


def breakable(words: str | Html) -> Html:
    """``words``, which may be broken after what joins the parts of a name."""
    return words if isinstance(words, Html) else Html(_JOINT.sub(r"\1<wbr>", text(words)))


def code(words: str) -> Html:
    """``words`` as a block, line by line; of a long text the beginning, and how much more there was."""
    left = len(words) - _MOST_CHARACTERS
    shown = words if left <= 0 else f"{words[:_MOST_CHARACTERS]}\n… and {left:,} more characters"
    return tag("pre", shown)


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str | Html]], class_: str = "") -> Html:
    """A table whose first column heads its rows; a cell that is a ``td`` already stays so. Where it is wider
    than the page it scrolls by itself, with the keyboard too."""
    head = tag("tr", *(tag("th", breakable(each), scope="col") for each in heads))
    body = (
        tag("tr", tag("th", breakable(row[0]), scope="row"), *(_cell(each) for each in row[1:]))
        for row in rows
    )
    inner = (tag("caption", caption), tag("thead", head), tag("tbody", *body))
    whole = tag("table", *inner, class_=class_)
    return tag("div", whole, class_="wide", tabindex="0", role="group", aria_label=caption)


def _cell(cell: str | Html) -> Html:
    return cell if isinstance(cell, Html) and cell.startswith("<td") else tag("td", cell)
