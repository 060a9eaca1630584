"""Calls of known tools in the ways that models write them into a text, whatever they were told to write.

An object with the tool's name (``name``, ``tool``, ``tool_name``, ``function``, ``action``) and its arguments
(``arguments``, ``parameters``, ``input``, ``args``, ``action_input``), a list of such objects, or several one
after the other;
``<function=NAME>`` with JSON or ``<parameter=…>`` in it; ``NAME[ARGS]{…}``; and Python, ``NAME(a=1)``. Where
one call of several is none of a known tool, none is taken.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..shared.json_values import as_list, as_object, load
from ..shared.replies.parse import WireCall
from .call_json import call_values

__all__ = ["written_calls"]

_MAX_PYTHON = 20_000
"""The longest text that is read as Python."""

_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "input", "args", "action_input")
_OTHERS = {"id", "type"}
_OPENS = "<function="
_FUNCTION = re.compile(r"<function=([^<>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>\n?(.*?)(?:\n?(</parameter>)|\Z)", re.DOTALL)
_NAMED = re.compile(r"([\w.-]+)(?:\[CALL_ID\][^\[{]*+)?(?:\[ARGS\])?\s*(\{.*\})", re.DOTALL)
_SPLIT = "[TOOL_CALLS]"


class _NoCall(Exception):
    pass


def written_calls(content: str, names: Mapping[str, str]) -> list[WireCall]:
    """The calls that ``content`` is, by ``names``: how a tool may be called to its wire name. Empty when it
    is anything else."""
    content = content.strip()
    for read in (_objects, _functions, _named, _python):
        try:
            calls = list(read(content))
            return [WireCall(call.id, names[call.name], call.arguments) for call in calls]
        except (_NoCall, KeyError):
            continue
    return []


def _objects(content: str) -> Iterator[WireCall]:
    try:
        values = call_values(content)
    except ValueError:
        raise _NoCall from None
    for value in values:
        entries = as_list(value)
        for entry in [value] if entries is None else entries:
            yield _object(entry)


def _object(entry: Any) -> WireCall:
    whole = as_object(entry) or {}
    inner = as_object(whole.get("function")) or whole
    name = [inner[key] for key in _NAMES if isinstance(inner.get(key), str)]
    given = [inner[key] for key in _ARGUMENTS if key in inner]
    if len(name) != 1 or len(given) != 1 or inner.keys() - {*_NAMES, *_ARGUMENTS, *_OTHERS}:
        raise _NoCall
    return WireCall(whole.get("id"), name[0], given[0])


def _functions(content: str) -> Iterator[WireCall]:
    if not content.startswith(_OPENS):
        raise _NoCall
    found = list(_FUNCTION.finditer(content))
    if not found or _FUNCTION.sub("", content).strip():
        raise _NoCall
    for each in found:
        body = each[2].strip()
        parameters = {found[1]: _value(found[2]) for found in _PARAMETER.finditer(body) if found[3]}
        yield WireCall(None, each[1], parameters or body)


def _value(text: str) -> Any:
    try:
        return load(text)
    except ValueError:
        return text


def _named(content: str) -> Iterator[WireCall]:
    for part in filter(str.strip, content.split(_SPLIT)):
        found = _NAMED.fullmatch(part.strip())
        if found is None:
            raise _NoCall
        yield WireCall(None, found[1], found[2])


def _python(content: str) -> Iterator[WireCall]:
    try:
        tree = ast.parse(content if len(content) <= _MAX_PYTHON else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _NoCall from None
    if not tree.body:
        raise _NoCall
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        for call in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
            yield _python_call(call)


def _python_call(call: ast.expr | None) -> WireCall:
    if not isinstance(call, ast.Call):
        raise _NoCall
    if ast.unparse(call.func) == "print" and len(call.args) == 1 and not call.keywords:
        return _python_call(call.args[0])
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise _NoCall
    try:
        arguments = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (ValueError, TypeError, RecursionError):
        raise _NoCall from None
    return WireCall(None, ast.unparse(call.func), arguments)
