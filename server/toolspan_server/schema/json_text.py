"""Parses JSON text into data and positions.

The standard library's decoder makes the data. Positions, and closer checks where something may be
wrong, come from a scanner of our own, which runs only when a message needs it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..problems import Fault, Path
from .syntax_trees import (
    DEPTH_LIMIT,
    DIGITS_LIMIT,
    NOT_FINITE,
    TOO_DEEP,
    TOO_LONG,
    Lines,
    Node,
    SyntaxFault,
    depth_of,
    note,
    repeated_key,
)

_TOKEN = re.compile(r'[{}\[\],:]|"(?:[^"\\]|\\(?:.|\Z))*(?:"|\Z)|[^\s{}\[\],:"]+', re.DOTALL)
_PLAIN = ("true", "false", "null", "0", "1")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(text: str) -> tuple[Any, Node | None, list[Fault]]:
    """The data, the positions where they are already known, and the faults. Raises ``SyntaxFault``."""
    doubtful = _SURROGATE.search(text) is not None

    def doubt(value: Any) -> Any:
        nonlocal doubtful
        doubtful = True
        return value

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(reversed(pairs))
        return doubt(found) if len(found) != len(pairs) else dict(pairs)

    def integer(digits: str) -> int:
        return int(digits) if len(digits) <= DIGITS_LIMIT else int(doubt(0))

    def real(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else float(doubt(0.0))

    def constant(name: str) -> float:
        return float(doubt(0.0))

    try:
        data = json.loads(
            text, object_pairs_hook=unique, parse_int=integer, parse_float=real, parse_constant=constant
        )
    except json.JSONDecodeError as error:
        raise SyntaxFault(error.pos, f"broken JSON: {_lower(error.msg)}", "correct the text here") from None
    except RecursionError:
        json_tree(text)
        raise SyntaxFault(0, TOO_DEEP) from None
    if doubtful or depth_of(data) > DEPTH_LIMIT:
        return (data, *json_tree(text))
    return data, None, []


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def json_tree(text: str) -> tuple[Node, list[Fault]]:
    """The tree of positions of the JSON ``text``, with faults for what JSON allows but a config does not."""
    return _Scanner(text).scan()


@dataclass(slots=True)
class _Open:
    node: Node
    path: Path
    is_object: bool
    key: str | None = None
    key_at: int = 0


@dataclass(slots=True)
class _Scanner:
    text: str
    faults: list[Fault] = field(default_factory=list[Fault])
    lines: Lines = field(init=False)

    def __post_init__(self) -> None:
        self.lines = Lines(self.text)

    def scan(self) -> tuple[Node, list[Fault]]:
        root = Node(0, 0)
        stack = [_Open(root, (), is_object=False)]
        for match in _TOKEN.finditer(self.text):
            token, offset = match.group(), match.start()
            if token in "}]":
                stack.pop()
            elif token not in ",:":
                self._value_or_key(stack, token, offset)
        return root.children.get(0, root), self.faults

    def _value_or_key(self, stack: list[_Open], token: str, offset: int) -> None:
        here = stack[-1]
        if here.is_object and here.key is None:
            here.key, here.key_at = _string(token), offset
            if "\\" in token:
                self._check((*here.path, here.key), token, on_key=True)
            return
        part: str | int = len(here.node.children) if here.key is None else here.key
        node = Node(offset if here.key is None else here.key_at, offset)
        here.key = None
        first = here.node.children.setdefault(part, node)
        if first is node and (token in _PLAIN or (token[0] == '"' and "\\" not in token)):
            return
        path = here.path if len(stack) == 1 else (*here.path, part)
        if first is not node:
            message, hint = repeated_key(self.lines, first.key, node.key, str(part))
            note(self.faults, Fault(path, message, hint, on_key=True, offset=node.key))
        if token in "{[":
            if len(stack) > DEPTH_LIMIT:
                raise SyntaxFault(offset, TOO_DEEP, "make it flatter", path)
            stack.append(_Open(node, path, is_object=token == "{"))
        else:
            self._check(path, token)

    def _check(self, path: Path, token: str, *, on_key: bool = False) -> None:
        for message, hint in _scalar_faults(token):
            note(self.faults, Fault(path, message, hint, on_key))


def _string(token: str) -> str:
    return str(json.loads(token)) if "\\" in token else token[1:-1]


def _scalar_faults(token: str) -> Iterator[tuple[str, str]]:
    if token[0] == '"':
        if _SURROGATE.search(token) and not _encodable(_string(token)):
            yield "a lone surrogate escape, which is half a character", "write both halves or neither"
    elif token in ("NaN", "Infinity", "-Infinity"):
        yield f"{token} is {NOT_FINITE}", "write a finite number"
    elif token[0] in "-0123456789":
        if token.lstrip("-").isdigit():
            if len(token) > DIGITS_LIMIT:
                yield TOO_LONG, "write a smaller number, or a string"
        elif not math.isfinite(float(token)):
            yield f"this is {NOT_FINITE}: too large", "write a smaller number"


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
