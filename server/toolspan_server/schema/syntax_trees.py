"""Common parts of the YAML and JSON parsers: the tree of positions, the limits, and syntax errors."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from ..problems import Fault, Path

DEPTH_LIMIT = 64
"""The most levels of nested objects and lists."""

MOST_FAULTS = 1_000
"""The most faults that are reported of one file."""

DIGITS_LIMIT = 4_000
"""The most digits of an integer."""

TOO_DEEP = f"nested more than {DEPTH_LIMIT} levels deep"
TOO_LONG = f"an integer of more than {DIGITS_LIMIT} digits"
NOT_FINITE = "not a number that JSON can carry"


@dataclass(slots=True)
class Node:
    """The offsets into the text of a value and of its key, and the nodes inside the value."""

    key: int
    start: int
    children: dict[str | int, Node] = field(default_factory=dict["str | int", "Node"])


class SyntaxFault(Exception):
    """The text cannot be parsed beyond ``offset``."""

    def __init__(self, offset: int, message: str, hint: str = "", path: Path = ()) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint
        self.path = path


def depth_of(value: Any, above: int = 0) -> int:
    """How many levels of objects and lists ``value`` has; counting stops at the limit."""
    if above > DEPTH_LIMIT or not isinstance(value, (dict, list)):
        return above
    inside: Any = cast("Any", value.values() if isinstance(value, dict) else value)
    deepest = above + 1
    for part in inside:
        if isinstance(part, (dict, list)):
            deepest = max(deepest, depth_of(part, above + 1))
    return deepest


class Lines:
    """Lines and columns of the characters of a text, both from 1; lines end with LF (or CR LF)."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self._text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of the character at ``offset``."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def repeated_key(lines: Lines, first: int, second: int, key: str) -> tuple[str, str]:
    """Message and hint for ``key`` when one object has it at both offsets."""
    message = f"key {key!r} stands here twice, on lines {lines.place(first)[0]} and {lines.place(second)[0]}"
    return message, "keep one of them"


def note(faults: list[Fault], fault: Fault) -> None:
    """Add ``fault``; beyond ``MOST_FAULTS`` only, once, that there are more."""
    if len(faults) < MOST_FAULTS:
        faults.append(fault)
    elif len(faults) == MOST_FAULTS:
        faults.append(Fault((), f"more than {MOST_FAULTS:,} faults", "correct the reported ones first"))
