"""Calls of offered tools that a model printed as text, where its format has a channel for them.

A call is the whole answer, or stands after one of the marks of ``markup``, or in a fenced block of a language
that calls are written in, at the answer's end. What stands in thoughts and in other code is text, and so is a
call of anything that is not offered, one in quotes, and one in the middle of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ...messages import Assistant, Reply, Request
from ..shared.replies.markup import CALLS, QUOTES, THOUGHTS, any_of, halves
from ..shared.replies.parse import WireCall, reply
from .parse import before_results, named_apart
from .written_calls import Callables, NoCall, calls_from, may_begin, whole_calls

__all__ = ["UNREAD", "HeldText", "may_hold_calls", "rescued"]

UNREAD = (
    "The answer holds the markup of a call that nobody has read: the server has no parser for this model's "
    "calls. Try to start it with one (vLLM and SGLang: --tool-call-parser, llama.cpp: --jinja), or prompt: "
    "before the model's provider."
)
"""What is said of an answer in which control markup of calls is left."""

_TAGS = frozenset(tag for row in CALLS for tag in row.opens)
_ALL_TAGS = tuple(_TAGS)
_ENDS = frozenset(tag for row in CALLS for tag in (*row.closes, *row.within) if tag[0] != "a")
_CLOSES = {row.opens: row.closes for row in THOUGHTS if row.opens[0] != "H"}
_LONGEST_TAG = max(map(len, (*_TAGS, *_CLOSES)))
_BEFORE = "".join(sorted(QUOTES))
_MOST_LINE = 1_000
_HALF_TAGS = halves((*_TAGS, *_CLOSES)) | _TAGS | _CLOSES.keys()
_MARK = re.compile(
    rf"(?P<tag>(?<![{_BEFORE}])(?:{any_of(_TAGS).pattern}))|(?P<think>{any_of(_CLOSES).pattern})"
    r"|(?m:^)(?P<indent>[ \t]{0,20})(?:(?P<fence>`{3,20}|~{3,20})(?P<language>[^\n`]{0,100})\n"
    r"|(?P<action>Action:|>>>(?=[\w.:-]{1,200}\n)))"
)
_HALF_LINE = re.compile(
    r"[ \t]{0,20}(?:`{0,2}|~{0,2}|(?:`{3,20}|~{3,20})[^\n`]{0,100}|A|Ac|Act|Acti|Actio|Action|>{1,2}"
    r"|>>>[\w.:-]{0,200})"
)
_SIGN = re.compile(rf"```|~~~|Action:|>>>|{any_of(_TAGS | _CLOSES.keys()).pattern}")
"""What every mark has near its beginning, found without a look at each character."""
_MOST_INDENT = 20
_WINDOW = 64
_LONGEST_MARK = 256
_LANGUAGES = frozenset({"", "json", "python", "tool_call", "tool_code"})
_MOST_MARKS = 100
"""So many marks of calls are tried in one text."""
_OBJECTS = (
    *(
        f"{start}{{{quote}{key}{quote}:"
        for start in ("", "[", "{")
        for quote in "\"'"
        for key in ("name", "tool", "tool_name", "tool_call_id", "function", "action", "type")
    ),
    "functools[",
    "assistantcommentaryto=functions.",
    "to=functions.",
)


@lru_cache(maxsize=32)
def _starts(names: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """With what a text that is a call begins, and the characters of the longest of these."""
    python = (f"{start}{name}(" for start in ("", "[") for name in names)
    found = (*_OBJECTS, *python, *(f">>>{name}" for name in names))
    return found, max(map(len, found))


def _next_mark(text: str, at: int) -> re.Match[str] | None:
    """The first match of ``_MARK`` in ``text`` from ``at`` on. It takes long at each character, as its parts
    begin with groups: it is tried where there is a sign."""
    while sign := _SIGN.search(text, at):
        begin = max(at, sign.start() - _MOST_INDENT)
        end = begin + _WINDOW
        mark = _MARK.search(text, begin, end + _LONGEST_MARK)
        if mark is not None and mark.start() < end:
            return mark
        at = end
    return None


class HeldText:
    """Streamed text, of which what may become a call of ``tools`` is held back until it is none; the result
    does not depend on how the text is split."""

    def __init__(self, tools: Callables) -> None:
        self._tools = tools
        self._starts, self._longest = _starts(tools.names)
        self._text = "\n"
        self._line = ""
        self._more: list[str] = []
        self._begun = False
        self._holding = False
        self._until = ""
        self._awaited = self._tail = ""

    @property
    def text(self) -> str:
        """What is held back."""
        return "".join((self._text[1:], *self._more))

    def feed(self, piece: str) -> str:
        """More text; returns what is certain to be no call."""
        self._more.append(piece)
        if self._holding or self._waits(piece):
            return ""
        self._text = "".join((self._text, *self._more))
        self._more.clear()
        shown: list[str] = []
        while released := self._step():
            shown.append(released)
        return "".join(shown)

    def _waits(self, piece: str) -> bool:
        """Whether the end of a fenced block that may hold calls has yet to come."""
        if self._awaited:
            window = self._tail + piece
            self._tail = window[-len(self._awaited) :]
            if self._awaited not in window:
                return True
            self._awaited = ""
        return False

    def close(self) -> tuple[str, list[WireCall]]:
        """The text that was held back and is no call, and the calls."""
        self._text, self._awaited = "".join((self._text, *self._more)), ""
        self._more.clear()
        if not self._begun:
            calls, rest = _bare(self._text[1:], self._tools)
            if calls:
                return rest, calls
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
        mark, held = _next_mark(self._text, 1), self._held_from()
        if mark is None or held < mark.start():  # a tag may yet be a part of a fence's line
            return self._release(held)
        if mark.start() > 1:
            return self._release(mark.start())
        if mark["fence"]:
            return self._fence(mark)
        if mark["think"]:
            self._until = _CLOSES[mark["think"]]
            return self._release(mark.end())
        if _quotes(self._line) or not may_begin(self._text, mark.start(), mark.end()):
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
            self._awaited, self._tail = closing, self._text[-len(closing) :]
            return ""
        if not _quotes(self._line) and _in_fence(self._text[mark.end() : place], self._tools):
            self._holding = True
            return ""
        return self._release(place + len(closing))

    def _release(self, end: int) -> str:
        released, self._text = self._text[1:end], self._text[end - 1 :]
        self._line = (self._line + released).rpartition("\n")[2][-_MOST_LINE:]
        return released

    def _held_from(self) -> int:
        """The index from which the end of the text may be the beginning of a mark."""
        end = len(self._text)
        line = self._text.rfind("\n") + 1
        held = max(1, line) if _HALF_LINE.fullmatch(self._text, line) else end
        for start in range(max(1, end - _LONGEST_TAG), held):
            if self._text[start:] in _HALF_TAGS:
                return start
        return held

    def _split(self, held: str) -> tuple[str, list[WireCall]]:
        parts: list[_Part] = []
        at, tried = 0, 0
        while tried < _MOST_MARKS and (mark := _next_mark(held, at)):
            tried += 1
            found, end = self._marked(held, mark)
            start = mark.start() if found else end
            parts += [_Part(held[at:start]), _Part(held[start:end], found, fenced=bool(mark["fence"]))]
            at = end
        return _told_apart([*parts, _Part(held[at:])])

    def _marked(self, held: str, mark: re.Match[str]) -> tuple[list[WireCall], int]:
        """The calls at ``mark``, and where they, or what is none, end."""
        line = self._before(held, mark.start())
        if mark["think"] or mark["fence"]:
            start = mark.end() if mark["think"] else mark.end() - 1
            closing = _CLOSES[mark["think"]] if mark["think"] else f"\n{mark['indent']}{mark['fence']}"
            place = held.find(closing, start)
            end = place + len(closing) if place >= 0 else len(held)
            if mark["think"] or mark["language"].strip() not in _LANGUAGES or _quotes(line):
                return [], end
            return _in_fence(held[mark.end() : place if place >= 0 else None], self._tools), end
        if _quotes(line):
            return [], mark.end()
        try:
            calls, end = calls_from(held, mark.start() + len(mark["indent"] or ""), self._tools)
        except NoCall:
            return [], mark.end()
        line_end = held.find("\n", end)
        goes_on = line.strip() and held[end : line_end if line_end >= 0 else None].strip()
        return ([], mark.end()) if goes_on else (calls, end)

    def _before(self, held: str, place: int) -> str:
        """The line up to ``place``; of a long one the end."""
        start = held.rfind("\n", 0, place) + 1
        return (self._line if not start else "") + held[max(start, place - _MOST_LINE) : place]


def _in_fence(content: str, tools: Callables) -> list[WireCall]:
    """The calls that a block of code is. Control markup in one is quoted there."""
    return [] if content.lstrip().startswith(_ALL_TAGS) else whole_calls(content, tools)


def _quotes(line: str) -> bool:
    """Whether what follows ``line``, the beginning of one, is quoted there: by a sign, or in a comment."""
    return line.lstrip().startswith("> ") or line.rfind("<!--") > line.rfind("-->")


_LEAD = re.compile(r"\A(?:functools|>>>(?=[\w.:-]{1,200}[ \t]{0,20}\n)|to=functions\.)")


class _Part(NamedTuple):
    """A part of an answer: text, or ``calls``, which stand in a ``fenced`` block or not."""

    text: str
    calls: Sequence[WireCall] = ()
    fenced: bool = False


def _told_apart(parts: Sequence[_Part]) -> tuple[str, list[WireCall]]:
    """The text of ``parts``, and their calls. A block of code with words after it is an example."""
    texts: list[str] = []
    calls: list[WireCall] = []
    at_end = True
    for part in reversed(parts):
        if part.calls and (at_end or not part.fenced):
            calls[:0] = part.calls
            continue
        texts.append(part.text)
        at_end = at_end and not part.text.strip()
    return "".join(reversed(texts)), calls


def _bare(text: str, tools: Callables) -> tuple[list[WireCall], str]:
    """The calls that ``text`` begins with, and what follows them."""
    head = _LEAD.sub("", text.lstrip())
    try:
        calls, end = calls_from(head, 0, tools)
    except NoCall:
        return [], text
    return (calls, head[end:]) if calls else ([], text)


def rescued(plain: Reply, request: Request) -> Reply:
    """``plain``, with the calls in its text if it has no others; such a reply is marked ``rescued``, and its
    message keeps what the model wrote. Where markup of calls is left in an answer, it says so."""
    if not may_hold_calls(request) or plain.message.calls or plain.cut_calls or plain.incomplete:
        return plain
    if plain.stop not in ("stop", "other"):
        return plain
    said = plain.message.text
    before = before_results(said)
    held = HeldText(Callables.of(request.tools))
    shown = held.feed(before)
    rest, calls = held.close()
    if not calls:
        return replace(plain, notes=(*plain.notes, UNREAD)) if _is_left(said) else plain
    body = {"text": plain.message.text, "after": len(request.messages)}
    text = shown + rest if (shown + rest).strip() else ""
    read = reply(
        text,
        named_apart(calls),
        body=body,
        stop=plain.stop,
        usage=plain.usage,
        format_name="",
        is_split=True,
    )
    if not read.message.calls:
        return replace(read, notes=plain.notes)
    message = Assistant(read.message.text, read.message.calls, origin=plain.message.origin, written=before)
    return replace(plain, message=message, rescued=True)


def _is_left(text: str) -> bool:
    """Whether control markup of calls stands in ``text``, and not in code."""
    at = 0
    while mark := _ANY_MARK.search(text, at):
        if mark[0][0] != "`":
            return True
        place = text.find(mark[0], mark.end())
        if place < 0:
            return False
        at = place + len(mark[0])
    return False


_ANY_MARK = re.compile(rf"``{{0,19}}|{any_of(_TAGS | _ENDS).pattern}")


def may_hold_calls(request: Request) -> bool:
    """Whether the answer to ``request`` may hold calls."""
    return bool(request.tools) and request.tool_choice != "none"
