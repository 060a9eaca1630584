"""Calls of offered tools that a model printed as text, where its format has a channel for them.

A call is the whole answer, or stands in tags (``<tool_call>``, ``<function_call>``, ``<function=…>``,
``[TOOL_CALLS]``, ``<|tool_call|>``, ``<|python_tag|>``) or in a fenced block of a language that calls are
written in. What stands in ``<think>`` tags and in other code is text, and so is a call of anything that is
not offered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from ...messages import Assistant, Reply, Request, ToolSpec
from ..names import NameTable
from ..shared.identity import IdentityKey
from ..shared.replies.parse import WireCall, reply
from .parse import named_apart
from .written_calls import written_calls

__all__ = ["HeldText", "callable_names", "may_hold_calls", "rescued"]

_ENDS = {
    "<tool_call>": "</tool_call>",
    "<function_call>": "</function_call>",
    "<function=": "",
    "[TOOL_CALLS]": "",
    "<|tool_call|>": "",
    "<|python_tag|>": "",
}
"""Tags, each with its end; empty where it reaches to the end of the text."""
_THINK, _THINK_END = "<think>", "</think>"
_LONGEST_TAG = max(map(len, (*_ENDS, _THINK)))
_HALF_TAGS = frozenset(tag[:size] for tag in (*_ENDS, _THINK) for size in range(1, len(tag) + 1))
_TAG = "|".join(re.escape(tag) for tag in _ENDS)
_MARK = re.compile(
    rf"(?P<tag>(?<!`)(?:{_TAG}))|(?P<think>{_THINK})"
    r"|(?m:^)(?P<indent>[ \t]*)(?P<fence>`{3,})(?P<language>[^\n`]*)\n"
)
_HALF_FENCE = re.compile(r"[ \t]*(?:`{0,2}|`{3,}[^\n`]*)")
_LANGUAGES = frozenset({"", "json", "python", "tool_call", "tool_code"})
_OBJECTS = tuple(
    f'{start}{{"{key}":'
    for start in ("", "[", "{")
    for key in ("name", "tool", "tool_name", "function", "action", "type")
)


def callable_names(tools: Sequence[ToolSpec]) -> dict[str, str]:
    """How each of ``tools`` may be called in a text, to its wire name: so, and by its own name if no other
    has it."""
    return dict(_callable_names(IdentityKey(tools)))


@lru_cache(maxsize=32)
def _callable_names(tools: IdentityKey[ToolSpec]) -> Mapping[str, str]:
    table = NameTable.of(tools.items)
    own = [tool.name for tool in table.tools]
    names = {tool.name: table.wire(tool) for tool in table.tools if own.count(tool.name) == 1}
    return names | {table.wire(tool): table.wire(tool) for tool in table.tools}


@lru_cache(maxsize=32)
def _starts(names: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """With what a text that is a call begins, and the characters of the longest of these."""
    found = (*_OBJECTS, *(f"{start}{name}(" for start in ("", "[") for name in names))
    return found, max(map(len, found))


class HeldText:
    """Streamed text, of which what may become a call of ``names`` is held back until it is none; the result
    does not depend on how the text is split."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._starts, self._longest = _starts(tuple(names))
        self._text = "\n"
        self._begun = False
        self._holding = False
        self._until = ""

    @property
    def text(self) -> str:
        """What is held back."""
        return self._text[1:]

    def feed(self, piece: str) -> str:
        """More text; returns what is certain to be no call."""
        self._text += piece
        shown: list[str] = []
        while released := self._step():
            shown.append(released)
        return "".join(shown)

    def close(self) -> tuple[str, list[WireCall]]:
        """The text that was held back and is no call, and the calls."""
        if not self._begun:
            if calls := written_calls(self._text, self._names):
                return "", calls
            self._begun, self._holding = True, False
        shown = self.feed("")
        rest, calls = self._split(self._text[1:])
        return shown + rest, calls

    def _step(self) -> str:
        """Text that is released; empty when more has to arrive."""
        if self._holding or not self._starts_as_text():
            return ""
        if self._until:
            return self._pass()
        mark = _MARK.search(self._text, 1)
        if mark is None or mark.start() > 1:
            return self._release(self._held_from() if mark is None else mark.start())
        if mark["fence"]:
            return self._fence(mark)
        if mark["think"]:
            self._until = _THINK_END
            return self._release(mark.end())
        self._holding = True
        return ""

    def _starts_as_text(self) -> bool:
        if self._begun:
            return True
        head = "".join(self._text[1:257].split())
        self._holding = head.startswith(self._starts)
        self._begun = bool(head) and not self._holding and not self._may_start_with(head)
        return self._begun

    def _may_start_with(self, head: str) -> bool:
        return len(head) < self._longest and any(start.startswith(head) for start in self._starts)

    def _pass(self) -> str:
        place = self._text.find(self._until, 1)
        if place < 0:
            return self._release(max(1, len(self._text) - len(self._until) + 1))
        end = place + len(self._until)
        self._until = ""
        return self._release(end)

    def _fence(self, mark: re.Match[str]) -> str:
        closing = f"\n{mark['indent']}{mark['fence']}"
        if mark["language"].strip() not in _LANGUAGES:
            self._until = closing
            return self._release(mark.end() - 1)
        place = self._text.find(closing, mark.end() - 1)
        if place < 0:
            return ""
        if written_calls(self._text[mark.end() : place], self._names):
            self._holding = True
            return ""
        return self._release(place + len(closing))

    def _release(self, end: int) -> str:
        released, self._text = self._text[1:end], self._text[end - 1 :]
        return released

    def _held_from(self) -> int:
        """The index from which the end of the text may be the beginning of a mark."""
        line = self._text.rfind("\n") + 1
        if _HALF_FENCE.fullmatch(self._text, line):
            return max(1, line)
        end = len(self._text)
        for start in range(max(1, end - _LONGEST_TAG), end):
            if self._text[start:] in _HALF_TAGS:
                return start
        return end

    def _split(self, held: str) -> tuple[str, list[WireCall]]:
        texts: list[str] = []
        calls: list[WireCall] = []
        at = 0
        while mark := _MARK.search(held, at):
            content, end = _block(held, mark)
            found = [] if mark["think"] else written_calls(content, self._names)
            texts.append(held[at : mark.start()] if found else held[at:end])
            calls += found
            at = end
        return "".join([*texts, held[at:]]), calls


def _block(held: str, mark: re.Match[str]) -> tuple[str, int]:
    """The content of the block that begins with ``mark``, and where the block ends."""
    start, closing = mark.end(), _ENDS.get(mark["tag"] or "", _THINK_END)
    if mark["fence"]:
        start, closing = start - 1, f"\n{mark['indent']}{mark['fence']}"
    place = held.find(closing, start) if closing else -1
    content = held[
        mark.start() if mark["tag"] == "<function=" else mark.end() : place if place >= 0 else None
    ]
    return content, place + len(closing) if place >= 0 else len(held)


def rescued(plain: Reply, request: Request) -> Reply:
    """``plain``, with the calls in its text if it has no others; such a reply is marked ``rescued``."""
    if not may_hold_calls(request) or plain.message.calls or plain.cut_calls or plain.incomplete:
        return plain
    if plain.stop not in ("stop", "other"):
        return plain
    held = HeldText(callable_names(request.tools))
    shown = held.feed(plain.message.text)
    rest, calls = held.close()
    if not calls:
        return plain
    body = {"text": plain.message.text, "after": len(request.messages)}
    text = shown + rest if (shown + rest).strip() else ""
    read = reply(text, named_apart(calls), body=body, stop=plain.stop, usage=plain.usage, format_name="")
    return replace(plain, message=Assistant(read.message.text, read.message.calls), rescued=True)


def may_hold_calls(request: Request) -> bool:
    """Whether the answer to ``request`` may hold calls."""
    return bool(request.tools) and request.tool_choice != "none"
