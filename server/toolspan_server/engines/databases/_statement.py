"""Static checks of a statement: that it is a single one, and whether it is a query."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_OPENS = re.compile(r"['\"`]|\$\w*\$|--|/\*")
_CLOSED = {
    "'": re.compile(r"'(?:[^']|'')*+'"),
    '"': re.compile(r'"(?:[^"]|"")*+"'),
    "`": re.compile("`[^`]*`"),
    "--": re.compile(r"--[^\n]*"),
    "/*": re.compile(r"/\*(?:[^*]|\*(?!/))*\*/"),
}
_TAG = re.compile(r"(?=(\$\w*\$))")
_PARAMETER = re.compile(r"(?<![:\w\\]):(\w+)(?=::|(?![:\w]))")
_CAST = re.compile(r"(?<![:\w\\]):(\w+)(?=::)")
"""A parameter before PostgreSQL's ``::type``, which SQLAlchemy takes for no parameter."""
_LIST = re.compile(
    r"(?<![\w.])(NOT\s+)?IN\s+:(\w+)(?![\w:])|(?P<position>\bPOSITION\s*\()|(?P<bracket>[()])",
    re.IGNORECASE,
)
_COLON = re.compile(r"(?<!\\):")
_HELD = ("sqlite", "postgresql")
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE")


def bare(statement: str) -> str:
    """``statement`` without comments, its quoted parts empty, and without a semicolon at its end."""
    left = _with_hidden(statement, lambda hidden: " " if hidden.startswith(("--", "/*")) else "''")
    return left.strip().removesuffix(";").strip()


def _with_hidden(statement: str, change: Callable[[str], str]) -> str:
    """``statement`` with its quoted parts and comments changed. Behind one that is not closed nothing is."""
    pieces: list[str] = []
    at = 0
    for start, end in _hidden(statement):
        pieces += statement[at:start], change(statement[start:end])
        at = end
    return "".join([*pieces, statement[at:]])


def _hidden(statement: str) -> Iterator[tuple[int, int]]:
    """Where quoted parts and comments are; PostgreSQL's ``$tag$ text $tag$`` is one."""
    tags: dict[str, list[int]] = {}
    for tag in _TAG.finditer(statement):
        tags.setdefault(tag[1], []).append(tag.start())
    at = 0
    while opened := _OPENS.search(statement, at):
        if opened[0] in _CLOSED:
            closed = _CLOSED[opened[0]].match(statement, opened.start())
            if closed is None:
                return
            at = closed.end()
        else:
            places = tags[opened[0]]
            again = bisect_left(places, opened.end())
            if again == len(places):
                at = opened.start() + 1
                continue
            at = places[again] + len(opened[0])
        yield opened.start(), at


def parameters_of(statement: str) -> list[str]:
    """The names of its ``:name`` parameters, each once; what is quoted holds none."""
    return list(dict.fromkeys(_PARAMETER.findall(bare(statement))))


class Split(NamedTuple):
    """The names of a statement's parameters: those that stand for lists, and those for single values."""

    listed: list[str]
    single: list[str]


def split_lists(statement: str) -> Split:
    """A parameter stands for a list right after ``IN``; it may stand for a single value elsewhere too."""
    left = bare(statement)
    lists = _lists(left)
    starts, ends = [0, *(found.end() for found in lists)], [*(found.start() for found in lists), len(left)]
    outside = " ".join(left[start:end] for start, end in zip(starts, ends, strict=True))
    listed = dict.fromkeys(found[2] for found in lists)
    return Split(list(listed), list(dict.fromkeys(_PARAMETER.findall(outside))))


def _lists(left: str) -> list[re.Match[str]]:
    """Where lists stand in a statement without its quoted parts: ``POSITION('a' IN :text)`` asks for none."""
    lists: list[re.Match[str]] = []
    in_position = False
    for found in _LIST.finditer(left):
        if found["position"] or found["bracket"]:
            in_position = bool(found["position"])
        elif not in_position:
            lists.append(found)
    return lists


def for_sqlalchemy(statement: str, lists: Mapping[str, str]) -> str:
    """``statement`` so that SQLAlchemy finds the same parameters in it, and the lists under their names in
    ``lists``. A list that is not among them is empty, and written as an array of PostgreSQL."""
    pieces: list[str] = []
    at = 0
    for found in _lists(_with_hidden(statement, _cover)):
        pieces += statement[at : found.start()], _suggested_clause(bool(found[1]), lists.get(found[2]))
        at = found.end()
    written = "".join([*pieces, statement[at:]])
    escaped = _with_hidden(written, lambda hidden: _COLON.sub(r"\:", hidden))
    return _CAST.sub(r"(:\1)", escaped)


def _cover(hidden: str) -> str:
    """What takes the place of ``hidden``, as long as it is."""
    return (" " if hidden.startswith(("--", "/*")) else "'") * len(hidden)


def _suggested_clause(is_not: bool, name: str | None) -> str:
    if name is None:
        return "<> ALL ('{}')" if is_not else "= ANY ('{}')"
    return f"{'NOT ' if is_not else ''}IN :{name}"


def fault_of(statement: str, *, read_only: bool) -> tuple[str, str] | None:
    """What is wrong with ``statement`` and what to do, in words."""
    left = bare(statement)
    if not left:
        return "is no statement", "write one, such as SELECT name FROM people WHERE id = :id"
    if ";" in left:
        return "is more than one statement", "write one; a pipeline can run several tools"
    first = first_word(statement)
    if read_only and first not in _QUERIES:
        return f"starts with {first}, so it is no query", "set read_only: false if it may change data"
    return None


def first_word(statement: str) -> str:
    """The keyword that it starts with, in capitals: ``SELECT``."""
    found = re.match(r"[(\s]*(\w+)", bare(statement))
    return found.group(1).upper() if found else ""


def is_safe_on(dialect: str, statement: str) -> bool:
    """Whether ``statement``, a query by its looks, cannot write there: the database is held to it, or it is
    a ``SELECT`` without ``INTO``, which would name a table or a file, and without MySQL's ``/*! code */``."""
    if dialect in _HELD:
        return True
    has_into = re.search(r"\bINTO\b", bare(statement), re.IGNORECASE) is not None
    return first_word(statement) == "SELECT" and not has_into and "/*!" not in statement
