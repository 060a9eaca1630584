"""Editing one table of a TOML text, and nothing else of it: comments and layout stay."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, Table

from ._json import UnsupportedShape

_UNEDITABLE = "it is written in a way that cannot be edited safely"


def table(key: Sequence[str], entry: Mapping[str, Any]) -> str:
    """``entry`` as the table ``key``; objects in it as tables of their own."""
    document = tomlkit.document()
    parent: Any = document
    for name in key[:-1]:
        parent[name] = tomlkit.table(is_super_table=True)
        parent = parent[name]
    parent[key[-1]] = entry
    return document.as_string()


def with_entry(text: str, path: tuple[str, str], entry: dict[str, Any]) -> str:
    """``text`` with the table ``path``. Raises ``tomllib.TOMLDecodeError``, and ``UnsupportedShape`` for a
    table that is written in a way that cannot be edited."""
    known = load(text).get(path[0], {})
    if known.get(path[1]) == entry:
        return text
    line = _newline(text)
    written = table(path, entry).replace("\n", line)
    if path[1] not in known:
        return _gap(text, line) + written
    document, old = _parsed(text, path)
    follows = _comments_passed_on(document, old)
    new: Any = tomlkit.parse(written + (line if follows else ""))
    cast("Any", document)[path[0]][path[1]] = new[path[0]][path[1]]
    return _mark(text) + _with_line_ends_of(text, document.as_string())


def without_entry(text: str, path: tuple[str, str]) -> str:
    """``text`` without the table ``path``. Raises as ``with_entry``."""
    if path[1] not in load(text).get(path[0], {}):
        return text
    document, old = _parsed(text, path)
    follows = _comments_passed_on(document, old)
    del cast("Any", document)[path[0]][path[1]]
    left = _mark(text) + document.as_string()
    return left if follows or not left.strip("\ufeff \r\n") else left.rstrip("\r\n") + _newline(text)


def load(text: str) -> dict[str, Any]:
    """The data in ``text``. Raises ``tomllib.TOMLDecodeError``."""
    return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _parsed(text: str, path: tuple[str, str]) -> tuple[Container, Table]:
    """The document of ``text``, and the table at ``path`` in it."""
    try:
        document = tomlkit.parse(text.removeprefix("\ufeff"))
        found: Any = cast("Any", document)[path[0]][path[1]]
    except TOMLKitError:
        raise UnsupportedShape(_UNEDITABLE) from None
    if not isinstance(found, Table):
        raise UnsupportedShape(_UNEDITABLE)
    return document, found


def _comments_passed_on(document: Container, old: Table) -> bool:
    """Whether a table follows ``old``, which then has the comments directly above its header.

    To the parser they are the last of what is in the table before.
    """
    inside = list(_headed(old.value))
    headed = list(_headed(document))
    last = inside[-1] if inside else old
    place = next((index for index, each in enumerate(headed) if each is last), None)
    if place is None:  # it has no header: its keys are dotted
        raise UnsupportedShape(_UNEDITABLE)
    if place + 1 == len(headed):
        return False
    body = last.value.body
    comments: list[str] = []
    while body and isinstance(body[-1][1], Comment):
        comments.insert(0, body.pop()[1].as_string())
    following = headed[place + 1].trivia
    following.indent = "".join(comments) + following.indent
    return True


def _headed(container: Container) -> Iterator[Table]:
    """The tables in ``container``, at any depth, that have a header, in the order of the text."""
    for _, item in container.body:
        for each in item.body if isinstance(item, AoT) else [item]:
            if isinstance(each, Table):
                if not each.is_super_table():
                    yield each
                yield from _headed(each.value)


def _gap(text: str, line: str) -> str:
    """``text`` and an empty line after it, where it is not empty itself."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    ended = text if text.endswith("\n") else text + line
    return ended if ended.endswith(line * 2) else ended + line


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with_line_ends_of(text: str, edited: str) -> str:
    """``edited`` with no other line ends than ``text``, where that has one sort only."""
    if "\r\n" not in text or "\n" in text.replace("\r\n", ""):
        return edited
    return edited.replace("\r\n", "\n").replace("\n", "\r\n")


def _mark(text: str) -> str:
    return "\ufeff" if text.startswith("\ufeff") else ""
