"""Calls in the ways that models write them into a text, whatever they were told to write.

One reader for all: the marks of ``markup`` only say where calls begin and what stands between them. A call
itself is an object with the tool's name and its arguments, or a list of such; ``NAME`` with an object after
it; Python, ``NAME(a=1)``; or a tag for the tool and one for each parameter (``tagged_calls``). Where one call
of several is none of a known tool, none is taken.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...messages import ToolSpec
from ..names import NameTable
from ..shared.identity import IdentityKey
from ..shared.json_values import as_list, as_object, compact
from ..shared.replies.markup import CALLS, any_of
from ..shared.replies.parse import WireCall
from .call_json import MAX_PYTHON, gemma_object, python_end, value_at
from .tagged_calls import TaggedCall, bare_style, begins_tagged

__all__ = ["Callables", "NoCall", "calls_from", "may_begin", "whole_calls"]

_MOST = 100
"""So many calls are read of one text."""
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "input", "args", "action_input", "tool_args", "tool_input")
_OTHERS = {"id", "type", "tool_call_id"}
_TAGGED = tuple(
    token for row in CALLS for token in row.opens if token.endswith(("<function=", "name=", "tool="))
)
_TOKENS = frozenset(
    token for row in CALLS for token in (*row.opens, *row.closes, *row.within) if not token.endswith("=")
)
_LEADS = frozenset(token for row in CALLS for token in row.opens if token.endswith(" to="))
_TOKEN = re.compile(
    any_of((*_TOKENS, *_LEADS, "Action Input:", "Action:")).pattern + r"|>>>(?=[\w.:-]{1,200}\n)"
)
_MCP = re.compile(
    r"<server_name>(?P<server>[^<\n]{1,200})</server_name>\s{0,20}"
    r"<tool_name>(?P<tool>[^<\n]{1,200})</tool_name>\s{0,20}<arguments>\s{0,20}(?=\{)"
)
_MCP_END = "</arguments>"
_OPENS = tuple(token for row in CALLS for token in row.opens)
_LONGEST_OPEN = max(map(len, _OPENS))
_FENCE = re.compile(r"`{3,}+(?:json|python|tool_call|tool_code)?(?=[\s{\[<]|\Z)")
_NAME = re.compile(r"[\w./:-]{1,200}")
_CALL_ID = re.compile(r"\[CALL_ID\][\w-]{1,64}")
_AFTER_NAMES = ("json", "code", "Action Input:")
_OPENING = frozenset("{[(<`")


class NoCall(Exception):
    """The text is no call."""


class Callables:
    """The tools that may be called in a text. Build one with ``of``."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._table = NameTable.of(tools)
        own = [tool.name for tool in self._table.tools]
        short = tuple(name for name in own if own.count(name) == 1)
        self.names = tuple(dict.fromkeys((*self._table.as_dict(), *short)))
        """What a text begins with that calls one of them in Python."""

    @classmethod
    def of(cls, tools: Sequence[ToolSpec]) -> Callables:
        """Those of ``tools``; the very same tools get the very same."""
        return _callables(IdentityKey(tools))

    def find(self, name: str) -> tuple[str, Mapping[str, Any]] | None:
        """The wire name and the schema of the tool that is called ``name``."""
        tool = self._table.called(name)
        return None if tool is None else (self._table.wire(tool), tool.schema)


@lru_cache(maxsize=32)
def _callables(tools: IdentityKey[ToolSpec]) -> Callables:
    return Callables(tools.items)


def whole_calls(content: str, tools: Callables) -> list[WireCall]:
    """The calls that ``content`` is, all of it; none when it is anything else."""
    try:
        calls, end = calls_from(content, 0, tools)
    except NoCall:
        return []
    return calls if not content[end:].strip() else []


def calls_from(
    text: str, start: int, tools: Callables, *, marked: bool = False
) -> tuple[list[WireCall], int]:
    """The calls at ``start`` of ``text``, and where they end; no calls, with the same end, where one is of no
    known tool. ``marked``: a mark says that calls begin there. Raises ``NoCall`` when none is there.

    Words may follow only what is closed: by a mark, or by a tag of its own.
    """
    reader = _Reader(text, start, tools, marked=marked)
    return reader.calls()


def may_begin(text: str, mark: int, start: int) -> bool:
    """Whether the mark at ``mark``, which ends at ``start``, and what follows may be a call, as far as it has
    come."""
    if text.startswith(_TAGGED, mark):
        return True
    place = start
    while place < len(text) and (text[place].isspace() or text[place] in ";,"):
        place += 1
    if place == len(text) or text[place] in _OPENING:
        return True
    rest = text[place : place + _LONGEST_OPEN]
    if any(mark.startswith(rest) or rest.startswith(mark) for mark in _OPENS):
        return True
    found = _NAME.match(text, place)
    if found is None:
        return False
    rest = text[found.end() : found.end() + 20].lstrip()
    return not rest or rest[0] in _OPENING or any(word.startswith(rest[: len(word)]) for word in _AFTER_NAMES)


class _Reader:
    def __init__(self, text: str, start: int, tools: Callables, *, marked: bool) -> None:
        self._text = text
        self._at = start
        self._tools = tools
        self._marked = marked
        self._closed = False

    def calls(self) -> tuple[list[WireCall], int]:
        found: list[WireCall] = []
        self._skip()
        end = self._at
        while self._at < len(self._text) and len(found) <= _MOST:
            self._closed = False
            try:
                found += self._body()
            except NoCall:
                if not found:
                    raise
                self._closed = self._was_closed
                break
            end = self._skip()
            self._was_closed = self._closed
        else:
            self._closed = True
        if not found or len(found) > _MOST or not self._closed:
            raise NoCall
        known = [self._known(call) for call in found]
        return ([call for call in known if call], end) if all(known) else ([], end)

    _was_closed = False

    def _known(self, call: WireCall) -> WireCall | None:
        tool = self._tools.find(call.name)
        return WireCall(call.id, tool[0], call.arguments, fault=call.fault) if tool else None

    def _skip(self) -> int:
        """Pass blanks, marks, and what separates calls; returns where the last mark ended."""
        text, end = self._text, self._at
        while self._at < len(text):
            if text[self._at].isspace() or text[self._at] in ";,":
                self._at += 1
            elif mark := _CALL_ID.match(text, self._at) or (self._marked and _FENCE.match(text, self._at)):
                end = self._at = mark.end()
            elif mark := _TOKEN.match(text, self._at):
                end = self._at = mark.end()
                self._closed = self._marked = True
            else:
                break
        return end

    def _body(self) -> list[WireCall]:
        text = self._text
        if begins_tagged(text, self._at):
            return [self._tagged(TaggedCall.at(text, self._at))]
        if text[self._at] in "{[":
            return self._value()
        if self._marked and (found := _MCP.match(text, self._at)):
            return self._of_server(found)
        return self._named()

    def _of_server(self, found: re.Match[str]) -> list[WireCall]:
        """``<server_name>…<tool_name>…<arguments>{…}</arguments>``."""
        self._at = found.end()
        call = self._with_object(f"{found['server'].strip()}.{found['tool'].strip()}", is_gemma=False)
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        if not self._text.startswith(_MCP_END, self._at):
            raise NoCall
        self._at += len(_MCP_END)
        return [call]

    def _value(self) -> list[WireCall]:
        """Objects, a list of them, or of calls in Python."""
        text, start = self._text, self._at
        doubled = text.startswith("{{", start)
        try:
            value, end = value_at(text, start + doubled)
        except ValueError:
            return self._python(start)
        if doubled:
            if not text.startswith("}", end) and text[end:].strip():
                raise NoCall
            end += text.startswith("}", end)
        self._at = end
        entries = as_list(value)
        return [call for entry in ([value] if entries is None else entries) for call in self._objects(entry)]

    def _objects(self, entry: Any) -> list[WireCall]:
        whole = as_object(entry) or {}
        inner = as_object(whole.get("function")) or whole
        name = [inner[key] for key in _NAMES if isinstance(inner.get(key), str)]
        given = [inner[key] for key in _ARGUMENTS if key in inner]
        if len(name) == len(given) == 1 and not inner.keys() - {*_NAMES, *_ARGUMENTS, *_OTHERS}:
            return [WireCall(whole.get("id"), name[0], given[0])]
        if self._marked and len(whole) == 1:  # Apertus: {NAME: {…}}
            ((key, arguments),) = whole.items()
            if as_object(arguments) is not None and self._tools.find(key):
                return [WireCall(None, key, arguments)]
        raise NoCall

    def _named(self) -> list[WireCall]:
        text = self._text
        name = _NAME.match(text, self._at)
        if name is None:
            raise NoCall
        start, self._at = self._at, name.end()
        if text.startswith("(", self._at):
            return self._python(start)
        said = name[0].removeprefix("call:")
        self._skip()
        if begins_tagged(text, self._at):  # Step 3
            return [self._tagged(TaggedCall.at(text, self._at))]
        if said == "function" and (inner := _NAME.match(text, self._at)):  # DeepSeek R1
            said, self._at = inner[0], inner.end()
            self._skip()
        if text.startswith(("json", "code"), self._at):
            self._at += len("json")
            self._skip()
        if tags := bare_style(text, self._at):
            return [self._tagged(TaggedCall(text, self._at, said, tags))]
        if text.startswith("{", self._at):
            return [self._with_object(said, is_gemma=said != name[0])]
        if self._marked and self._closed and self._tools.find(said):  # GLM: without arguments
            return [WireCall(None, said, {})]
        raise NoCall

    def _with_object(self, name: str, *, is_gemma: bool) -> WireCall:
        try:
            read = gemma_object if is_gemma else value_at
            value, self._at = read(self._text, self._at)
        except ValueError:
            raise NoCall from None
        self._closed = False
        return WireCall(None, name, self._unwrapped(name, value))

    def _unwrapped(self, name: str, value: Any) -> Any:
        """The arguments in ``value``, which may be the whole call again (Inkling). Raises ``NoCall`` where
        that is another tool's."""
        tool = self._tools.find(name)
        if tool is None or "name" in (as_object(tool[1].get("properties")) or {}):
            return value
        try:
            (call,) = self._objects(value)
        except NoCall:
            return value
        if call.name != name:
            raise NoCall
        return call.arguments

    def _tagged(self, call: TaggedCall) -> WireCall:
        tool = self._tools.find(call.name)
        arguments, fault = call.read({} if tool is None else tool[1])
        self._at, self._closed = call.end, True
        if fault:
            return WireCall(None, call.name, call.written, fault=fault)
        return WireCall(None, call.name, arguments)

    def _python(self, start: int) -> list[WireCall]:
        try:
            end = python_end(self._text, start)
            tree = ast.parse(self._text[start:end], mode="eval").body if end - start <= MAX_PYTHON else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise NoCall from None
        self._at = end
        listed = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
        if not listed:
            raise NoCall
        return [_python_call(call) for call in listed]


def _python_call(call: ast.expr | None) -> WireCall:
    if not isinstance(call, ast.Call):
        raise NoCall
    if ast.unparse(call.func) == "print" and len(call.args) == 1 and not call.keywords:
        return _python_call(call.args[0])
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise NoCall
    try:
        arguments = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        compact(arguments)
    except (ValueError, TypeError, RecursionError):
        raise NoCall from None
    return WireCall(None, ast.unparse(call.func).removesuffix(".call"), arguments)
