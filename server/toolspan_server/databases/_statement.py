"""What can be told of a statement by looking at it: that it is one, and whether it is a query."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    r"""'(?:[^']|'')*'            # 'text'
      | "(?:[^"]|"")*"            # "name"
      | `[^`]*`                   # `name`
      | \$(\w*)\$.*?\$\1\$        # $tag$ text $tag$
      | --[^\n]*                  # comments
      | /\*.*?\*/""",
    re.DOTALL | re.VERBOSE,
)
_HELD = ("sqlite", "postgresql")
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE")


def bare(statement: str) -> str:
    """``statement`` without comments, its quoted parts empty, and without a semicolon at its end."""
    hidden = _HIDDEN.sub(lambda match: " " if match.group().startswith(("--", "/*")) else "''", statement)
    return hidden.strip().removesuffix(";").strip()


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
    a ``SELECT``, which has no form that writes."""
    return dialect in _HELD or first_word(statement) == "SELECT"
