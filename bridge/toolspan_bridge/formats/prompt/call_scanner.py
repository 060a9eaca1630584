"""Tool calls that a model wrote into its text, distinguished from text that only looks like one.

A call is an object with ``name`` and ``arguments`` in ``<tool_call>`` tags, in a fenced block whose language
is ``json``, ``tool_call`` or none, or at the start of the answer; several are an array of such
objects, or stand one after the other. Other code, and what stands in ``<think>`` tags, is text.
"""

from __future__ import annotations

import re
from typing import Any

from ..shared.json_values import (
    as_list,
    as_object,
    compact,
    load,
    text,
)
from ..shared.replies.markup import QUOTES, THOUGHTS, any_of, halves, held_from
from ..shared.replies.parse import WireCall
from .call_json import call_values, first_value_end

__all__ = ["CallScanner", "ScannedItem"]

ScannedItem = str | WireCall

_TAG, _TAG_END = "<tool_call>", "</tool_call>"
_THOUGHTS = {row.opens: row.closes for row in THOUGHTS if row.opens[0] != "H"}
_BEFORE = "".join(sorted(QUOTES))
_MARK = re.compile(
    rf"(?P<tag>(?<![{_BEFORE}])<tool_call>)|(?P<think>{any_of(_THOUGHTS).pattern})"
    r"|(?m:^)(?P<indent>[ \t]{0,20})(?P<fence>`{3,20}|~{3,20})(?P<language>[^\n`]{0,100})\n"
)
_HALVES = halves((_TAG, *_THOUGHTS)) | {_TAG, *_THOUGHTS}
_LONGEST = max(map(len, _HALVES))
_HALF_FENCE = re.compile(r"[ \t]{0,20}(?:`{0,2}|~{0,2}|(?:`{3,20}|~{3,20})[^\n`]{0,100})")
_FENCED = re.compile(r"`{3,}(?:json|tool_call)?[^\S\n]*\n(.*)\n[^\S\n]*`{3,}", re.DOTALL)
_TAGGED = re.compile(rf"{_TAG}(.*){_TAG_END}", re.DOTALL)
_LANGUAGES = frozenset({"", "json", "tool_call"})
_CALL_LIKE = re.compile(r'[\[\s]*\{\s*"name"\s*:\s*"(?P<name>[^"\\]*)"\s*,\s*"(?:arguments|parameters)"\s*:')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_MOST_ENDINGS = 100
"""So many ends within texts are passed over."""
_BARE = ('{"name":', '[{"name":')
_BEGINS = ("", "<", "[", "{")
_KEYS = frozenset({"arguments", "id", "name", "parameters", "type"})


class CallScanner:
    """Finds calls in a streamed text; the result does not depend on how the text is split.

    Text that may still become a call is held back. ``_block_end`` is the end of the code or thoughts that are
    skipped; ``_awaited_end`` has to arrive before the held text is scanned again.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._previous = "\n"
        self._in_text = False
        self._is_bare = False
        self._block_end = ""
        self._awaited_end = ""
        self._tail = ""
        self._waits = 0

    def feed(self, piece: str) -> list[ScannedItem]:
        """The text and the calls that are certain so far, in order."""
        self._pieces.append(piece)
        if self._is_bare:
            return []
        if self._awaited_end:
            window = self._tail + piece
            self._tail = window[-len(self._awaited_end) :]
            if self._awaited_end not in window:
                return []
        self._awaited_end = ""
        found: list[ScannedItem] = []
        rest = "".join(self._pieces)
        while rest and not self._awaited_end:
            step, after = self._step(rest)
            if after == rest:
                break
            found += step
            rest = after
        self._pieces, self._tail = [rest], rest
        return found

    def close(self, *, cut: bool = False) -> list[ScannedItem]:
        """The text held back so far. ``cut``: the text broke off, so a call at its end may be incomplete."""
        rest = "".join(self._pieces)
        if not self._in_text and not self._block_end:
            leading, after = _leading_calls(rest)
            if leading and after:
                self._pieces, self._in_text, self._is_bare = [after], True, False
                return [*leading, *self.feed(""), *self.close(cut=cut)]
            if calls := _calls(rest) or ([_unreadable(rest)] if cut and rest.strip() else []):
                return [*calls]
            self._in_text, self._is_bare = True, False
            return [*self.feed(""), *self.close(cut=cut)]
        self._pieces = []
        mark = None if self._block_end else self._mark(rest)
        if mark is None:
            return [] if cut and not self._block_end else [rest]
        content = rest[mark.end() :]
        calls = _calls(content.rstrip().removesuffix(_TAG_END) if mark["tag"] else content)
        if not calls and (_announces_call(mark) or (cut and content.lstrip()[:1] in _BEGINS)):
            calls = [_unreadable(content)]
        return [rest[: mark.start()], *calls] if calls else [rest]

    def _step(self, rest: str) -> tuple[list[ScannedItem], str]:
        """The item at the start of ``rest``, and the text after it; none when more text has to arrive."""
        if self._block_end:
            return self._skip_block(rest)
        if not self._in_text and _may_start_bare_call(rest):
            self._is_bare = _compact_start(rest).startswith(_BARE)
            return [], rest
        self._in_text = True
        mark, held = self._mark(rest), self._held_from(rest)
        if mark is None or held < mark.start():
            return self._text_until(rest, held)
        if mark.start():
            return self._text_until(rest, mark.start())
        if mark["tag"]:
            return self._call_block(rest, mark, _TAG_END)
        if mark["fence"] and mark["language"].strip() in _LANGUAGES:
            return self._call_block(rest, mark, _fence_end(mark))
        self._block_end = _fence_end(mark) if mark["fence"] else _THOUGHTS[mark["think"]]
        return self._text_until(rest, mark.end() - len("\n") if mark["fence"] else mark.end())

    def _skip_block(self, rest: str) -> tuple[list[ScannedItem], str]:
        place = rest.find(self._block_end)
        if place < 0:
            return self._text_until(rest, max(0, len(rest) - len(self._block_end) + 1))
        end = place + len(self._block_end)
        self._block_end = ""
        return self._text_until(rest, end)

    def _call_block(self, rest: str, mark: re.Match[str], ending: str) -> tuple[list[ScannedItem], str]:
        """A block that may hold calls, once its end has arrived."""
        start = mark.end() - (ending[0] == "\n")
        place = _value_end(rest, start, ending) if mark["tag"] else rest.find(ending, start)
        if place < 0:
            self._awaited_end = ending
            self._waits += 1
            self._is_bare = self._waits > _MOST_ENDINGS  # so many ends within one value are not followed
            return [], rest
        self._waits = 0
        end = place + len(ending)
        content = rest[mark.end() : place]
        if mark["tag"] and content.lstrip().startswith("<"):
            return self._text_until(rest, end)  # in another markup, which is read where the tools are known
        calls = _calls(content) or ([_unreadable(content)] if _announces_call(mark) else [])
        if not calls:
            return self._text_until(rest, end)
        self._previous = rest[end - 1]
        return [*calls], rest[end:]

    def _text_until(self, rest: str, end: int) -> tuple[list[ScannedItem], str]:
        if end == 0:
            return [], rest
        self._previous = rest[end - 1]
        return [rest[:end]], rest[end:]

    def _mark(self, rest: str) -> re.Match[str] | None:
        """The first mark, taking the character before ``rest`` into account."""
        mark = _MARK.search(rest)
        if mark is None or mark["think"] or mark.start() > 0:
            return mark
        if self._previous == "\n" if mark["fence"] else self._previous not in QUOTES:
            return mark
        return _MARK.search(rest, 1)

    def _held_from(self, rest: str) -> int:
        """The index from which the end of ``rest`` may be the beginning of a mark."""
        line = rest.rfind("\n") + 1
        if (line > 0 or self._previous == "\n") and _HALF_FENCE.fullmatch(rest, line):
            return line
        return held_from(rest, _HALVES, _LONGEST)


def _fence_end(mark: re.Match[str]) -> str:
    return f"\n{mark['indent']}{mark['fence']}"


def _value_end(rest: str, start: int, ending: str) -> int:
    """Where ``ending`` stands after the JSON that begins at ``start``, in none of its texts; -1 where it has
    not come."""
    place = rest.find(ending, start)
    if rest[start:].lstrip()[:1] not in ("{", "["):
        return place
    at = start
    for _ in range(_MOST_ENDINGS):
        if place < 0:
            return -1
        for quote in _QUOTED.finditer(rest, at):
            at = quote.start()
            if quote.end() > place:
                break
        else:
            return place
        if quote.start() > place:
            return place
        if not quote[0].endswith('"') or len(quote[0]) == 1:
            return -1
        at, place = quote.end(), rest.find(ending, quote.end())
    return -1


def _compact_start(content: str) -> str:
    return "".join(content[:256].split())


def _may_start_bare_call(content: str) -> bool:
    """Whether ``content`` may be the start of a call without any mark."""
    head = _compact_start(content)
    return head.startswith(_BARE) or any(bare.startswith(head) for bare in _BARE)


def _announces_call(mark: re.Match[str]) -> bool:
    """Whether the mark announces a call, so that any other content is a malformed call."""
    return bool(mark["tag"]) or mark["language"] == "tool_call"


def _calls(content: str) -> list[WireCall]:
    """The calls in ``content``; none when it is something else."""
    content = content.strip()
    inner = _FENCED.fullmatch(content) or _TAGGED.fullmatch(content)
    content = inner[1].strip() if inner else content
    try:
        values = call_values(content)
    except ValueError:
        return [_unreadable(content)] if _CALL_LIKE.match(content) else []
    lists = ((as_list(value), value) for value in values)
    calls = [_call(entry) for found, value in lists for entry in ([value] if found is None else found)]
    return [call for call in calls if call] if all(calls) else []


def _leading_calls(content: str) -> tuple[list[WireCall], str]:
    """The sound calls that ``content`` begins with, and the words after them; neither where what comes after
    them may be a call too."""
    calls: list[WireCall] = []
    rest = content.lstrip()
    while rest[:1] in ("{", "["):
        end = first_value_end(rest)
        found = _calls(rest[:end])
        if not found:
            return [], ""
        calls += found
        rest = rest[end:].lstrip()
    return calls, rest


def _call(entry: Any) -> WireCall | None:
    whole = as_object(entry) or {}
    inner = as_object(whole.get("function")) or whole
    given = [inner[key] for key in ("arguments", "parameters") if key in inner]
    if not text(inner.get("name")) or len(given) != 1 or inner.keys() - _KEYS:
        return None
    return WireCall(whole.get("id"), inner["name"], given[0])


def _unreadable(content: str) -> WireCall:
    """A malformed call; its text stands for its arguments, so that the model is told why.

    It has a name only when it is not JSON at all: else the whole of it could be taken for the arguments.
    """
    content = content.strip()
    named = _CALL_LIKE.match(content)
    try:
        load(content)
    except ValueError:
        return WireCall(None, named["name"] if named else "", content)
    return WireCall(None, "", compact(content))
