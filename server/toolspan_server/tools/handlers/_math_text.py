"""An expression's text, checked and parsed: numbers, known names, operators, brackets, commas."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ...common.json_values import shortened

MAX_LENGTH = 1_000
MAX_NESTING = 50
MAX_NODES = 200

_TOKEN = re.compile(
    r"(?P<space>[ \t]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<operator>\*\*|//|[-+*/%^×÷−])"
    r"|(?P<open>[(\[])|(?P<close>[)\]])|(?P<comma>,)"
)
_WRITTEN = {"^": "**", "×": "*", "÷": "/", "−": "-", "π": "pi"}
_PAIRS = {")": "(", "]": "["}
_VALUE_ENDS = {"number", "name", "close"}
_VALUE_STARTS = {"number", "name", "open"}


class BadExpression(ValueError):
    """What is wrong, and the column (from 1) where, unless it is the whole expression."""

    def __init__(self, what: str, column: int | None = None, hint: str = "") -> None:
        where = "" if column is None else f" at column {column}"
        super().__init__(f"{what}{where}" + (f" ({hint})" if hint else ""))
        self.column = column


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int

    @property
    def python(self) -> str:
        if self.kind == "number" and self.text.isdecimal():
            return self.text.lstrip("0") or "0"
        return _WRITTEN.get(self.text, self.text.lower())


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of ``python``, and for each column of that the one in the text."""

    tree: ast.expr
    python: str
    columns: tuple[int, ...]

    def column(self, node: ast.expr) -> int:
        """Where in the text ``node`` is: its operator, if it has one between two values, or its start."""
        place = node.col_offset
        if isinstance(node, ast.BinOp):
            place = node.left.end_col_offset or 0
            place += len(self.python[place:]) - len(self.python[place:].lstrip(" )]"))
        return self.columns[place]


def parsed(
    text: str,
    constants: Collection[str],
    functions: Collection[str],
    refused: Mapping[str, str] | None = None,
) -> Parsed:
    """The tree of ``text``, which may use the names ``constants`` and ``functions``, and no operator of
    ``refused``, which has a hint for each.

    Raises ``BadExpression``. Small by construction: see the limits of this module.
    """
    if len(text) > MAX_LENGTH:
        raise BadExpression(f"it has {len(text):,} characters, the limit is {MAX_LENGTH:,}")
    tokens = list(_tokens(text))
    if not tokens:
        raise BadExpression("it is empty")
    _check_operators(tokens, refused or {})
    _check_brackets(tokens)
    _check_names(tokens, constants, functions)
    _check_order(tokens, functions)
    columns = tuple(token.column for token in tokens for _ in range(len(token.python) + 1))
    python = " ".join(token.python for token in tokens)
    try:
        tree = ast.parse(python, mode="eval").body
    except SyntaxError as error:
        place = min((error.offset or 1) - 1, len(python) - 1)
        found = next(token for token in tokens if token.column == columns[place])
        raise BadExpression(f"unexpected {found.text!r}", found.column) from None
    result = Parsed(tree, python, columns)
    _check_tree(result)
    return result


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise BadExpression(f"unexpected character {text[place]!r}", place + 1)
        if match.lastgroup != "space":
            yield _Token(match.lastgroup or "", match.group(), place + 1)
        place = match.end()


def _check_operators(tokens: list[_Token], refused: Mapping[str, str]) -> None:
    for token in tokens:
        if token.kind == "operator" and token.text in refused:
            raise BadExpression(f"unknown operator {token.text!r}", token.column, refused[token.text])


def _check_brackets(tokens: list[_Token]) -> None:
    opened: list[_Token] = []
    for token in tokens:
        if token.kind == "open":
            opened.append(token)
            if len(opened) > MAX_NESTING:
                raise BadExpression(f"more than {MAX_NESTING} brackets are nested", token.column)
        elif token.kind == "close" and (not opened or opened.pop().text != _PAIRS[token.text]):
            raise BadExpression(f"nothing is open that {token.text!r} could close", token.column)
    if opened:
        raise BadExpression(f"{opened[-1].text!r} is never closed", opened[-1].column)


def _check_names(tokens: list[_Token], constants: Collection[str], functions: Collection[str]) -> None:
    for token in tokens:
        if token.kind != "name" or token.python in functions or token.python in constants:
            continue
        if token.text == "of" and any(other.text == "%" for other in tokens):
            raise _percentage(token)
        close = get_close_matches(token.python, [*constants, *functions], n=1, cutoff=0.8)
        hint = f"did you mean {close[0]!r}?" if close else ""
        raise BadExpression(f"unknown name '{shortened(token.text, 40)}'", token.column, hint)


def _check_order(tokens: list[_Token], functions: Collection[str]) -> None:
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.kind == "name" and token.python in functions:
            if following is None or following.text != "(":
                raise BadExpression(f"{token.text!r} is a function, write {token.text}(…)", token.column)
        elif token.text == "%" and (following is None or following.kind not in _VALUE_STARTS):
            raise _percentage(token)
        elif token.kind == "operator" and following is None:
            raise BadExpression("it ends too early", token.column)
        elif following and token.kind in _VALUE_ENDS and following.kind in _VALUE_STARTS:
            missing = f"an operator is missing between {token.text!r} and {following.text!r}"
            raise BadExpression(missing, following.column)


def _percentage(token: _Token) -> BadExpression:
    hint = "for 15 percent of 45 write 15/100*45, for a remainder 7 % 3 or 7 % (-3)"
    return BadExpression("'%' is the remainder", token.column, hint)


def _check_tree(whole: Parsed) -> None:
    """Hold the tree to its limits, and make ``sum([1, 2])`` into ``sum(1, 2)``."""
    nodes: list[tuple[ast.expr, int]] = [(whole.tree, 1)]
    count = 0
    while nodes:
        node, depth = nodes.pop()
        count += 1
        if count > MAX_NODES:
            raise BadExpression(f"it has more than {MAX_NODES} numbers and operations")
        if depth > MAX_NESTING:
            raise BadExpression(f"it is nested more than {MAX_NESTING} deep", whole.column(node))
        nodes.extend(_parts(node, depth, whole))


def _parts(node: ast.expr, depth: int, whole: Parsed) -> list[tuple[ast.expr, int]]:
    if isinstance(node, ast.BinOp):
        return [(node.left, depth), (node.right, depth + 1)]
    if isinstance(node, ast.UnaryOp):
        return [(node.operand, depth + 1)]
    if isinstance(node, ast.Call):
        if node.keywords:
            raise BadExpression("'**' needs a number before it", whole.column(node.keywords[0].value))
        if len(node.args) == 1 and isinstance(node.args[0], (ast.List, ast.Tuple)):
            node.args = node.args[0].elts
        return [(argument, depth + 1) for argument in node.args]
    if isinstance(node, (ast.Constant, ast.Name)):
        return []
    if isinstance(node, (ast.List, ast.Tuple)):
        hint = "write 1000 instead of 1,000"
        if not node.elts:
            raise BadExpression("there is nothing between the brackets", whole.column(node))
        raise BadExpression(
            "several values are only allowed inside a function's brackets", whole.column(node), hint
        )
    raise BadExpression("'*' needs a number before it", whole.column(node))
