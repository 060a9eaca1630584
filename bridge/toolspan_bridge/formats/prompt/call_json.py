"""The values in which models write calls: JSON, and what they take for JSON."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from ..shared.json_values import MAX_NESTING, compact, load, load_nearly, nesting

__all__ = [
    "MAX_PYTHON",
    "call_values",
    "first_value_end",
    "gemma_object",
    "python_end",
    "python_value",
    "value_at",
]

MAX_PYTHON = 20_000
"""The longest text that is read as Python."""
_MAX_VALUES = 100
"""How many values one text may hold."""
_LENIENT = json.JSONDecoder(strict=False)
_STRUCTURE = re.compile(r"""["'()\[\]{}]""")
_SINGLE = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_GEMMA_QUOTES = ('<|"|>', "<escape>")
_GEMMA_KEY = re.compile(r"([{,]\s{0,20})([A-Za-z_][\w.-]{0,200})(?=\s{0,20}:)")
_BRACES = re.compile(r"[{}]")


def call_values(content: str) -> list[Any]:
    """The JSON values that ``content`` is: one, or several with only blanks or ``;`` between them. An object
    in doubled braces, as templates show it and small models repeat it, is that object, also where the last
    one is missing, and so is one that is
    written in Python.

    Raises ``ValueError`` for anything else.
    """
    content = content.strip()
    if content.startswith("{{") and content.endswith("}}"):
        for inner in (content[1:-1], content[1:]):
            try:
                return [load(inner)]
            except ValueError:
                continue
    try:
        return [load(content)]
    except ValueError as error:
        fault = error
    values = list[Any]()
    place = 0
    while place < len(content) and len(values) < _MAX_VALUES:
        try:
            value, end = value_at(content, place)
        except ValueError:
            raise fault from None
        values.append(value)
        place = end
        while place < len(content) and (content[place].isspace() or content[place] == ";"):
            place += 1
    if place < len(content) or not values:
        raise fault
    return values


def first_value_end(content: str) -> int:
    """Where the JSON value ends that ``content`` begins with; 0 where there is none."""
    try:
        return json.JSONDecoder().raw_decode(content)[1]
    except (ValueError, RecursionError):
        return 0


def value_at(text: str, start: int) -> tuple[Any, int]:
    """The object or list at ``start`` of ``text``, and where it ends: JSON, also with line breaks in its
    texts, or Python. Raises ``ValueError`` when there is none."""
    try:
        _, end = _LENIENT.raw_decode(text, start)
    except (ValueError, RecursionError):
        end = python_end(text, start)
        return python_value(text[start:end]), end
    return load_nearly(text[start:end]), end


def python_end(text: str, start: int) -> int:
    """Where the brackets end that open at ``start`` of ``text``, or after a name there. Raises ``ValueError``
    where they do not within ``MAX_PYTHON``."""
    depth, place, most = 0, start, start + MAX_PYTHON
    while mark := _STRUCTURE.search(text, place, most):
        place = mark.end()
        if mark[0] in "\"'":
            quoted = (_SINGLE if mark[0] == "'" else _DOUBLE).match(text, mark.start(), most)
            if quoted is None:
                break
            place = quoted.end()
        elif mark[0] in "([{":
            depth += 1
        else:
            depth -= 1
            if depth <= 0:
                return place
    raise ValueError("its brackets do not end")


def python_value(source: str) -> Any:
    """The JSON value that is written in Python: ``'…'``, ``True``, ``None``. Raises ``ValueError``."""
    try:
        value = ast.literal_eval(source) if len(source) <= MAX_PYTHON else ...
        return load(compact(value))
    except (SyntaxError, TypeError, RecursionError, MemoryError):
        raise ValueError("it is no value") from None


def gemma_object(text: str, start: int) -> tuple[Any, int]:
    """The object at ``start`` of ``text`` with its keys bare and its texts between Gemma's own quotes, and
    where it ends. Raises ``ValueError`` when there is none."""
    found = [(text.find(quote, start), quote) for quote in _GEMMA_QUOTES]
    quote = min((each for each in found if each[0] >= 0), default=(0, _GEMMA_QUOTES[0]))[1]
    depth, place = 0, start
    written: list[str] = []
    while True:
        opening = text.find(quote, place)
        outside = text[place : opening if opening >= 0 else None]
        for brace in _BRACES.finditer(outside):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                end = place + brace.end()
                written.append(_GEMMA_KEY.sub(r'\1"\2"', outside[: brace.end()]))
                return _shallow(load("".join(written))), end
        closing = text.find(quote, opening + len(quote)) if opening >= 0 else -1
        if closing < 0:
            raise ValueError("it has no end")
        written += [_GEMMA_KEY.sub(r'\1"\2"', outside), compact(text[opening + len(quote) : closing])]
        place = closing + len(quote)


def _shallow(value: Any) -> Any:
    if nesting(value) > MAX_NESTING:
        raise ValueError("it is nested too deep")
    return value
