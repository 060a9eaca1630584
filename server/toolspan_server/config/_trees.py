"""What the two parsers share: the tree of places, their limits, and how they refuse a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from ._problems import Path

DEPTH_LIMIT = 64
"""How many objects and lists may stand inside each other."""

DIGITS_LIMIT = 4_000
"""How many digits an integer may have."""

TOO_DEEP = f"nested more than {DEPTH_LIMIT} levels deep"
TOO_LONG = f"an integer of more than {DIGITS_LIMIT} digits"
NOT_FINITE = "not a number that JSON can carry"


@dataclass(slots=True)
class Node:
    """Where a value starts and where its key does, as offsets into the text, and what is inside it."""

    key: int
    start: int
    children: dict[str | int, Node] = field(default_factory=dict["str | int", "Node"])


class SyntaxFault(Exception):
    """The text cannot be read past ``offset``."""

    def __init__(self, offset: int, message: str, hint: str = "", path: Path = ()) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint
        self.path = path


def depth_of(value: Any, above: int = 0) -> int:
    """How many objects and lists stand inside each other in ``value``; not looked for past the limit."""
    if above > DEPTH_LIMIT or not isinstance(value, (dict, list)):
        return above
    inside: Any = cast("Any", value.values() if isinstance(value, dict) else value)
    deepest = above + 1
    for part in inside:
        if isinstance(part, (dict, list)):
            deepest = max(deepest, depth_of(part, above + 1))
    return deepest


def line_of(text: str, offset: int) -> int:
    """The line, counted from 1, of the character at ``offset``."""
    return text.count("\n", 0, offset) + 1


def repeated_key(text: str, first: int, second: int, key: str) -> tuple[str, str]:
    """Message and hint for ``key`` standing at both offsets of one object."""
    message = f"key {key!r} stands here twice, on lines {line_of(text, first)} and {line_of(text, second)}"
    return message, "keep one of them"
