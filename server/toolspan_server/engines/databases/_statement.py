"""Static checks of a statement: that it is a single one, and whether it is a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_HIDDEN = re.compile(
    r"""'(?:[^']|'')*'            # 'text'
      | "(?:[^"]|"")*"            # "name"
      | `[^`]*`                   # `name`
      | \$(\w*)\$.*?\$\1\$        # $tag$ text $tag$
      | --[^\n]*                  # comments
      | /\*.*?\*/""",
    re.DOTALL | re.VERBOSE,
)
_PARAMETER = re.compile(r"(?<![:\w\\]):(\w+)(?=::|(?![:\w]))")
_CAST = re.compile(r"(?<![:\w\\]):(\w+)(?=::)")
"""A parameter before PostgreSQL's ``::type``, which SQLAlchemy takes for no parameter."""
_LIST = re.compile(r"(?<![\w.])(NOT\s+)?IN\s+:(\w+)(?![\w:])", re.IGNORECASE)
_POSITION = re.compile(r"\bPOSITION\s*\([^()]*\Z", re.IGNORECASE)
_COLON = re.compile(r"(?<!\\):")
_HELD = ("sqlite", "postgresql")
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE")


def bare(statement: str) -> str:
    """``statement`` without comments, its quoted parts empty, and without a semicolon at its end."""
    hidden = _HIDDEN.sub(lambda match: " " if match.group().startswith(("--", "/*")) else "''", statement)
    return hidden.strip().removesuffix(";").strip()


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
    outside = left
    for found in reversed(lists):
        outside = f"{outside[: found.start()]} {outside[found.end() :]}"
    listed = dict.fromkeys(found[2] for found in lists)
    return Split(list(listed), list(dict.fromkeys(_PARAMETER.findall(outside))))


def _lists(left: str) -> list[re.Match[str]]:
    """Where lists stand in a statement without its quoted parts: ``POSITION('a' IN :text)`` asks for none."""
    return [found for found in _LIST.finditer(left) if not _POSITION.search(left, 0, found.start())]


def for_sqlalchemy(statement: str, lists: Mapping[str, str]) -> str:
    """``statement`` so that SQLAlchemy finds the same parameters in it, and the lists under their names in
    ``lists``. A list that is not among them is empty, and written as an array of PostgreSQL."""
    pieces: list[str] = []
    at = 0
    for found in _lists(_HIDDEN.sub(lambda match: _cover(match.group()), statement)):
        pieces += statement[at : found.start()], _suggested_clause(bool(found[1]), lists.get(found[2]))
        at = found.end()
    written = "".join([*pieces, statement[at:]])
    escaped = _HIDDEN.sub(lambda match: _COLON.sub(r"\:", match.group()), written)
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
