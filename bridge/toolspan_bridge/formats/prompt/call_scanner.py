"""Tool calls that a model wrote into its text, distinguished from text that only looks like one.

A call is an object with ``name`` and ``arguments`` in ``<tool_call>`` tags, in a fenced block whose language
is ``json``, ``tool_call`` or none, or as the whole answer; an array of such objects is several. Other code,
and what stands in ``<think>`` tags, is text.
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
from ..shared.replies.parse import WireCall

__all__ = ["CallScanner", "Found"]

Found = str | WireCall

_TAG, _TAG_END = "<tool_call>", "</tool_call>"
_THINK, _THINK_END = "<think>", "</think>"
_MARK = re.compile(
    r"(?P<tag>(?<!`)<tool_call>)|(?P<think><think>)"
    r"|(?m:^)(?P<indent>[ \t]*)(?P<fence>`{3,})(?P<language>[^\n`]*)\n"
)
_HALF_FENCE = re.compile(r"[ \t]*(?:`{0,2}|`{3,}[^\n`]*)")
_FENCED = re.compile(r"`{3,}(?:json|tool_call)?\s*\n(.*)\n\s*`{3,}", re.DOTALL)
_TAGGED = re.compile(rf"{_TAG}(.*){_TAG_END}", re.DOTALL)
_LANGUAGES = frozenset({"", "json", "tool_call"})
_CALL_LIKE = re.compile(r'[\[\s]*\{\s*"name"\s*:\s*"(?P<name>[^"\\]*)"\s*,\s*"(?:arguments|parameters)"\s*:')
_BARE = ('{"name":', '[{"name":')
_BEGINS = ("", "<", "[", "{")
_KEYS = frozenset({"arguments", "id", "name", "parameters", "type"})


class CallScanner:
    """Finds calls in a text that comes in pieces; the same is found whatever the pieces.

    What may still become a call is held back. ``_until`` ends the code or thoughts that are passed over;
    ``_awaited`` is what has to come before the text held is worth another look.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._before = "\n"
        self._began = False
        self._bare = False
        self._until = ""
        self._awaited = ""
        self._tail = ""

    def feed(self, piece: str) -> list[Found]:
        """Text and calls that are certain by now, in order."""
        self._pieces.append(piece)
        if self._bare:
            return []
        if self._awaited:
            window = self._tail + piece
            self._tail = window[-len(self._awaited) :]
            if self._awaited not in window:
                return []
        self._awaited = ""
        found: list[Found] = []
        rest = "".join(self._pieces)
        while rest and not self._awaited:
            step, after = self._step(rest)
            if after == rest:
                break
            found += step
            rest = after
        self._pieces, self._tail = [rest], rest
        return found

    def close(self, *, cut: bool = False) -> list[Found]:
        """What was held back. ``cut`` says that the text broke off: a call at its end may be half."""
        rest = "".join(self._pieces)
        if not self._began and not self._until:
            if calls := _calls(rest) or ([_unreadable(rest)] if cut and rest.strip() else []):
                return [*calls]
            self._began, self._bare = True, False
            return [*self.feed(""), *self.close(cut=cut)]
        self._pieces = []
        mark = None if self._until else self._mark(rest)
        if mark is None:
            return [] if cut and not self._until else [rest]
        content = rest[mark.end() :]
        calls = _calls(content)
        if not calls and (_is_told(mark) or (cut and content.lstrip()[:1] in _BEGINS)):
            calls = [_unreadable(content)]
        return [rest[: mark.start()], *calls] if calls else [rest]

    def _step(self, rest: str) -> tuple[list[Found], str]:
        """What the beginning of ``rest`` is, and what follows; nothing where more has to come."""
        if self._until:
            return self._passed_over(rest)
        if not self._began and _may_be_bare(rest):
            self._bare = _head(rest).startswith(_BARE)
            return [], rest
        self._began = True
        mark, held = self._mark(rest), self._held_from(rest)
        if mark is None or held < mark.start():
            return self._take_to_end(rest, held)
        if mark.start():
            return self._take_to_end(rest, mark.start())
        if mark["tag"]:
            return self._block(rest, mark, _TAG_END)
        if mark["fence"] and mark["language"].strip() in _LANGUAGES:
            return self._block(rest, mark, _fence_end(mark))
        self._until = _fence_end(mark) if mark["fence"] else _THINK_END
        return self._take_to_end(rest, mark.end() - len("\n") if mark["fence"] else mark.end())

    def _passed_over(self, rest: str) -> tuple[list[Found], str]:
        place = rest.find(self._until)
        if place < 0:
            return self._take_to_end(rest, max(0, len(rest) - len(self._until) + 1))
        end = place + len(self._until)
        self._until = ""
        return self._take_to_end(rest, end)

    def _block(self, rest: str, mark: re.Match[str], ending: str) -> tuple[list[Found], str]:
        """A block that may hold calls, once its end has come."""
        start = mark.end() - (ending[0] == "\n")
        place = rest.find(ending, start)
        if place < 0:
            self._awaited = ending
            return [], rest
        end = place + len(ending)
        content = rest[mark.end() : place]
        calls = _calls(content) or ([_unreadable(content)] if _is_told(mark) else [])
        if not calls:
            return self._take_to_end(rest, end)
        self._before = rest[end - 1]
        return [*calls], rest[end:]

    def _take_to_end(self, rest: str, end: int) -> tuple[list[Found], str]:
        if end == 0:
            return [], rest
        self._before = rest[end - 1]
        return [rest[:end]], rest[end:]

    def _mark(self, rest: str) -> re.Match[str] | None:
        """The first mark, judged with the character before ``rest`` in mind."""
        mark = _MARK.search(rest)
        if mark is None or mark["think"] or mark.start() > 0:
            return mark
        if self._before == "\n" if mark["fence"] else self._before != "`":
            return mark
        return _MARK.search(rest, 1)

    def _held_from(self, rest: str) -> int:
        """Where the end of ``rest`` may be the beginning of a mark."""
        line = rest.rfind("\n") + 1
        if (line > 0 or self._before == "\n") and _HALF_FENCE.fullmatch(rest, line):
            return line
        sizes = range(min(len(rest), len(_TAG) - 1), 0, -1)
        halves = (size for size in sizes if rest.endswith((_TAG[:size], _THINK[:size])))
        return len(rest) - next(halves, 0)


def _fence_end(mark: re.Match[str]) -> str:
    return f"\n{mark['indent']}{mark['fence']}"


def _head(content: str) -> str:
    return "".join(content[:256].split())


def _may_be_bare(content: str) -> bool:
    """Whether what begins so may be a call without any mark."""
    head = _head(content)
    return head.startswith(_BARE) or any(bare.startswith(head) for bare in _BARE)


def _is_told(mark: re.Match[str]) -> bool:
    """Whether the mark says that a call follows, so that anything else in it is a call that went wrong."""
    return bool(mark["tag"]) or mark["language"] == "tool_call"


def _calls(content: str) -> list[WireCall]:
    """The calls that ``content`` is; none when it is something else."""
    content = content.strip()
    inner = _FENCED.fullmatch(content) or _TAGGED.fullmatch(content)
    content = inner[1].strip() if inner else content
    try:
        value = load(content)
    except ValueError:
        return [_unreadable(content)] if _CALL_LIKE.match(content) else []
    entries = as_list(value)
    calls = [_call(entry) for entry in ([value] if entries is None else entries)]
    return [call for call in calls if call] if all(calls) else []


def _call(entry: Any) -> WireCall | None:
    whole = as_object(entry) or {}
    inner = as_object(whole.get("function")) or whole
    given = [inner[key] for key in ("arguments", "parameters") if key in inner]
    if not text(inner.get("name")) or len(given) != 1 or inner.keys() - _KEYS:
        return None
    return WireCall(whole.get("id"), inner["name"], given[0])


def _unreadable(content: str) -> WireCall:
    """A call that cannot be read; what was written stands for its arguments, so that the model is told why.

    It has a name only where it is no JSON at all: else the whole of it could pass for the arguments.
    """
    content = content.strip()
    named = _CALL_LIKE.match(content)
    try:
        load(content)
    except ValueError:
        return WireCall(None, named["name"] if named else "", content)
    return WireCall(None, "", compact(content))
