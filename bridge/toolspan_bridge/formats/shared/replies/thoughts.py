"""Thoughts that stand in an answer's text, in the tags of ``markup``.

Servers without a parser for a model's reasoning leave them there. They are at the text's start; and where the
template wrote their opening tag into the prompt, all that comes before their end is thought. What quotes a
tag, comes after thoughts that had both, stands between two later in a text, or is the value of a call, is
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from ....messages.deltas import Delta, ReasoningDelta, TextDelta
from .markup import CALLS, ENDS, QUOTES, THOUGHTS, any_of, halves, held_from

__all__ = ["TaggedThoughts", "split_thoughts", "without_thoughts"]

_ANSWERS = (
    *(
        f"{role}<|channel|>{channel}<|message|>"
        for role in ("<|start|>assistant", "")
        for channel in ("final", "final <|constrain|>json", "commentary")
    ),
    "<|open|>response<|sep|>",
    "<|message_model|><|content_text|>",
    ">>>all\n",
)
"""What stands before an answer, and says nothing more."""
_STRIPPED, _STRIPPED_END = "analysis", "assistantfinal"
"""What is left of gpt-oss's marks where a server drops its special tokens."""

_CLOSES = {row.opens: row.closes for row in THOUGHTS}
_ALONE = frozenset({_STRIPPED_END, *(row.closes for row in THOUGHTS if row.alone)})
_TAGS = frozenset(row.opens for row in THOUGHTS if row.opens[0] != "H")
_CALL_ENDS = {opens: row.closes[0] for row in CALLS for opens in row.opens if row.closes}
_CALL_CLOSES = frozenset(_CALL_ENDS.values())

_BEGIN = any_of((*_CLOSES, *_ANSWERS))
_BEGIN_HALVES = halves((*_CLOSES, *_ANSWERS))
_LONGEST_BEGIN = max(map(len, (*_CLOSES, *_ANSWERS)))
_MOST_BLANKS = 1_000
"""After so many a text has begun."""
_MARKS = frozenset({*_ALONE, *_TAGS, *_CALL_ENDS, *_CALL_CLOSES, *ENDS})
_MARK = any_of(_MARKS)
_LONGEST = max(map(len, _MARKS))
_HALVES = halves(_MARKS)
_CALL_MARKS = frozenset({*_CALL_ENDS, *_CALL_CLOSES})
_CALL_MARK = any_of(_CALL_MARKS)
_END = any_of(ENDS)

_TEXT_IN_JSON = re.compile(r'"(?:[^"\\]|\\.)*+("?)', re.DOTALL)
_MOST_CHECKS = 100
"""So many ends of thoughts are looked at in an answer that is JSON."""

_Place = Literal["begin", "in", "text", "quoted"]


def split_thoughts(content: str) -> tuple[str, str]:
    """The answer in ``content`` and the thoughts before it; no answer where thoughts have no end."""
    tagged = TaggedThoughts()
    answer: list[str] = []
    thoughts: list[str] = []
    for delta in (*tagged.feed(content), *tagged.end()):
        if isinstance(delta, TextDelta):
            answer.append(delta.text)
        elif isinstance(delta, ReasoningDelta):
            thoughts.append(delta.text)
            if delta.was_text:
                answer.clear()
    return "".join(answer), "".join(thoughts)


def without_thoughts(content: str) -> str:
    """The answer in ``content``."""
    return split_thoughts(content)[0]


class TaggedThoughts:
    """The text of a stream as deltas; those of its text after the last ``was_text`` add up to
    ``without_thoughts`` of the whole, however it is split."""

    def __init__(self) -> None:
        self._place: _Place = "begin"
        self._after_thoughts = False
        self._opened = False
        self._closes = ""
        self._call_end = ""
        self._held = ""
        self._at = 0
        self._more: list[str] = []
        self._tail = ""
        self._awaits_call_mark = False
        self._shown: list[str] = []
        self._head = ""
        self._ends = 0
        self._checks = 0

    @property
    def undecided(self) -> bool:
        """Whether all that came may yet be the beginning of a tag."""
        return self._place == "begin" and not self._after_thoughts

    def feed(self, piece: str) -> Iterator[Delta]:
        """The deltas of ``piece`` and of what was held back until it is clear what it belongs to."""
        if not piece:
            return
        self._more.append(piece)
        if self._awaits_call_mark:
            window = self._tail + piece
            self._tail = window[-_LONGEST:]
            if _CALL_MARK.search(window) is None:
                return
        yield from self._read(ended=False)

    def end(self) -> Iterator[Delta]:
        """The deltas of what is held back when no more text comes."""
        yield from self._read(ended=True)
        held, self._held = self._held, ""
        if held and self._place == "in":
            yield ReasoningDelta(held)
        elif held and (self._place != "begin" or not self._after_thoughts):
            yield TextDelta(held)

    def _read(self, *, ended: bool) -> Iterator[Delta]:
        self._held += "".join(self._more)
        self._more.clear()
        self._awaits_call_mark = False
        while self._at < len(self._held):
            before = (self._place, self._at)
            if self._place == "begin":
                self._begun(ended=ended)
            elif self._place == "in":
                yield from self._within()
            elif self._place == "quoted":
                yield from self._passed()
            else:
                yield from self._said(ended=ended)
            if before == (self._place, self._at):
                break
        self._held, self._at = self._held[self._at :], 0

    def _begun(self, *, ended: bool) -> None:
        start = _after_blanks(self._held, self._at)
        if start == len(self._held) and start - self._at < _MOST_BLANKS:
            return
        if mark := _BEGIN.match(self._held, start):
            self._at, self._after_thoughts = mark.end(), True
            if mark[0] in _CLOSES:
                self._place, self._closes, self._opened = "in", _CLOSES[mark[0]], True
        elif ended or self._held[start : start + _LONGEST_BEGIN] not in _BEGIN_HALVES:
            self._place, self._head = "text", ""
            self._at = start if self._after_thoughts else self._at

    def _within(self) -> Iterator[Delta]:
        place = self._held.find(self._closes, self._at)
        end = place if place >= 0 else len(self._held) - _half(self._held, self._closes)
        thought = self._held[self._at : end]
        self._at = end
        if place >= 0:
            self._place, self._at = "begin", end + len(self._closes)
        if thought:
            yield ReasoningDelta(thought)

    def _passed(self) -> Iterator[Delta]:
        place = self._held.find(self._closes, self._at)
        if place >= 0:
            self._place = "text"
            yield from self._release(place + len(self._closes))
        else:
            yield from self._release(len(self._held) - _half(self._held, self._closes))

    def _said(self, *, ended: bool) -> Iterator[Delta]:
        held = self._held
        mark = _MARK.search(held, self._at)
        if mark is None:
            yield from self._release(len(held) if ended else held_from(held, _HALVES, _LONGEST, self._at))
            return
        yield from self._release(mark.start())
        found, end = mark[0], mark.end()
        quoted = self._last in QUOTES or held[end : end + 1] in QUOTES
        if found in ENDS:
            yield from self._ended(ended=ended)
        elif len(held) == end and not ended:
            return  # what comes next says whether it is quoted
        elif found in _CALL_MARKS:
            if found in _CALL_ENDS:
                self._call_end = _CALL_ENDS[found]
            elif found == self._call_end:
                self._call_end = ""
            yield from self._release(end)
        elif (
            quoted
            or (found in _ALONE and self._opened)
            or (found == _STRIPPED_END and not self._begins_stripped)
        ):
            yield from self._release(end)
        elif found in _TAGS:
            self._place, self._closes = "quoted", _CLOSES[found]
            yield from self._release(end)
        else:
            yield from self._closed(end, ended=ended)

    def _closed(self, end: int, *, ended: bool) -> Iterator[Delta]:
        """An end of thoughts without a beginning, unless it is in the value of a call, or of JSON."""
        if self._head[:1] in ("{", "[") and self._is_in_json():
            yield from self._release(end)
            return
        if self._call_end:
            following = _CALL_MARK.search(self._held, end)
            if following is None and not ended:
                self._awaits_call_mark, self._tail = True, self._held[-_LONGEST:]
                return
            if following is not None and following[0] == self._call_end:
                self._call_end = ""
                yield from self._release(following.end())
                return
        thought = "".join(self._shown)
        self._shown.clear()
        self._place, self._after_thoughts, self._call_end = "begin", True, ""
        self._at = end
        yield ReasoningDelta(thought, was_text=True)

    def _is_in_json(self) -> bool:
        """Whether what was said is JSON within a text."""
        self._checks += 1
        if self._checks > _MOST_CHECKS:
            return True
        return any(not found[1] for found in _TEXT_IN_JSON.finditer("".join(self._shown)))

    def _ended(self, *, ended: bool) -> Iterator[Delta]:
        """The ends of turns that are held: dropped where nothing else follows, and text where it does."""
        place = _after_blanks(self._held, self._at + self._ends)
        while mark := _END.match(self._held, place):
            place = _after_blanks(self._held, mark.end())
        rest = self._held[place : place + _LONGEST]
        self._ends = place - self._at
        if rest and (ended or not any(end.startswith(rest) for end in ENDS)):
            self._ends = 0
            yield from self._release(place)
        elif ended:
            self._at = len(self._held)

    @property
    def _last(self) -> str:
        """The character before what is held."""
        return self._shown[-1][-1] if self._shown else ""

    @property
    def _begins_stripped(self) -> bool:
        rest = self._head.removeprefix(_STRIPPED)
        return rest != self._head and rest[:1].isalnum()

    def _release(self, end: int) -> Iterator[Delta]:
        if end > self._at:
            released = self._held[self._at : end]
            self._at = end
            self._shown.append(released)
            if len(self._head) <= len(_STRIPPED):
                self._head = (self._head + released).lstrip()[: len(_STRIPPED) + 1]
            yield TextDelta(released)


def _after_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _half(text: str, mark: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of ``mark``."""
    return next((size for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size])), 0)
