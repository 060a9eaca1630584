"""A question, cut once: what it holds that can be a tool's argument, and what of it is already taken."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TypeVar

from ._arithmetic import expression
from ._words import (
    STOP_WORDS,
    is_same,
    listed,
    stem,
    words,
)

_Found = TypeVar("_Found")
_LONGEST = 4_000
_TOKEN = re.compile(r"[^\W_]+(?:[.'’/_-][^\W_]+)*")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|`([^`]+)`|(?<!\w)['‘]([^'‘’]+)['’](?!\w)")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,15})?(?![\d:-])")
_BRACKETS = re.compile(r"[\[(][^\])]*[\])]")
_CAPITAL = r"[A-Z][\w'’.-]*[\w]|[A-Z]"
_PHRASE = re.compile(rf"\b(?:{_CAPITAL})(?:(?:,? | (?:of|de|la|du|the|and the) )(?:{_CAPITAL}))*")
_AFTER = re.compile(
    r"\b(in|for|at|from|to|near|around|of|on|visit|visiting|between)\s+(?:the\s+)?(?=\S)", re.IGNORECASE
)
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATES = (
    r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?",
    rf"{_MONTH}\.? {_DAY}(?:,? \d{{4}})?",
    rf"{_DAY} (?:of )?{_MONTH}(?:,? \d{{4}})?",
    r"\d{1,2}/\d{1,2}/\d{2,4}",
    r"(?:today|tomorrow|yesterday|tonight)\b",
    r"(?:next |last )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
)
_PATHS = (r"[~.]{0,2}/[^\s\"']+", r"[\w.-]+(?:/[\w.-]+)+", r"[\w-]+\.[a-z][a-z0-9]{1,4}")
_SHAPES = {
    "url": re.compile(r"https?://[^\s\"'<>)]+|\bwww\.[^\s\"'<>)]+"),
    "email": re.compile(r"[^\s@<>\"']+@[\w-]+(?:\.[\w-]+)+"),
    "path": re.compile(rf"(?<!\S)(?:{'|'.join(_PATHS)})(?=[\s,.?!]|$)"),
    "date": re.compile(rf"\b(?:{'|'.join(_DATES)})", re.IGNORECASE),
    "code": re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{2,}\b|\b(?!ID\b)[A-Z]{2,5}\b"),
}
_TIMES = frozenset(
    listed("today tomorrow yesterday tonight now right currently please week month year morning")
)
_REQUEST = STOP_WORDS | frozenset(
    listed(
        """search find look lookup query show get fetch retrieve list explain know information info
        documentation say says about anything something everything all some read check regarding"""
    )
)
_OWN = "(?:(?:the|my|our|your|this|these)\\s+)?"
_PLACE_TAIL = re.compile(
    rf"\s+(?:in|from|on|within|of|inside|using|with)\s+{_OWN}([\w-]+(?:\s+[\w-]+)?)[\s.?!]*$"
)
_FILLING = frozenset(listed("is are of as to be named called equal equals the a an by with"))


class QuestionText:
    """A question. ``find_*`` give what is not yet taken, and take it; ``None`` when there is none."""

    def __init__(self, text: str) -> None:
        self.text = text[:_LONGEST].strip()
        self.tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(self.text)]
        self.arithmetic = expression(self.text)
        self.quoted = [(next(filter(None, m.groups())), m.span()) for m in _QUOTED.finditer(self.text)]
        self.phrases = [(m.group(), m.span()) for m in _PHRASE.finditer(self.text) if self._is_name(m)]
        apart = _BRACKETS.sub(lambda m: m.group().replace(",", " "), self.text)
        self.numbers = [(_number(m.group()), m.span()) for m in _NUMBER.finditer(apart)]
        self._taken: list[tuple[int, int]] = []

    def mentions(self, phrase: str) -> bool:
        """Whether the words of ``phrase`` stand in the text, in their order and side by side."""
        return bool(self._places([stem(word) for word in words(phrase)]))

    def find_quoted(self) -> str | None:
        """The first quotation."""
        return self._first(self.quoted)

    def find_phrase(self) -> str | None:
        """The first name: words with a capital that begin no sentence."""
        return self._first(self.phrases)

    def find_shape(self, shape: str) -> str | None:
        """The first text that looks like a ``url``, ``email``, ``path``, ``date`` or ``code``."""
        return self._first([(m.group().rstrip(".,"), m.span()) for m in _SHAPES[shape].finditer(self.text)])

    def find_after(self, prepositions: Iterable[str]) -> str | None:
        """The name after one of ``prepositions``, or the one or two plain words there."""
        wanted = set(prepositions)
        places = [m.end() for m in _AFTER.finditer(self.text) if m.group(1).lower() in wanted]
        names = [found for start in places for found in self.phrases if found[1][0] == start]
        return self._first(names) or self._first([found for start in places if (found := self._plain(start))])

    def find_numbers(self) -> list[int | float]:
        """All numbers that are left."""
        found = [number for number, span in self.numbers if self._is_free(span)]
        self._taken += [span for _, span in self.numbers]
        return found

    def find_number(self, labels: Iterable[str] = (), reach: int = 4) -> int | float | None:
        """The number nearest to one of the words ``labels`` and at most ``reach`` words away; the first one
        that is left when there are no labels."""
        free = [(number, span) for number, span in self.numbers if self._is_free(span)]
        marks = [p for label in labels for p in self._places([label])]
        if labels and free:
            far = [(self._distance(marks, span), number, span) for number, span in free]
            distance, number, span = min(far, key=lambda item: item[0])
            free = [(number, span)] if distance <= reach else []
        return self._first(free)

    def word_before(self, label: str) -> str | None:
        """The word before ``label`` (``""`` at the beginning), None where the text does not say ``label``."""
        for place in self._places([label]):
            return self.tokens[place - 1][0].lower() if place else ""
        return None

    def find_labelled(self, labels: list[str]) -> str | None:
        """What stands after the words ``labels``: a quotation, a name, or one meaningful word."""
        for place in self._places(labels):
            index = place + len(labels)
            while index < len(self.tokens) and self.tokens[index][0].lower() in _FILLING:
                index += 1
            if index >= len(self.tokens):
                continue
            start = self.tokens[index][1]
            near = [found for found in self.quoted + self.phrases if 0 <= start - found[1][0] <= 1]
            word, _, end = self.tokens[index]
            if near or word.lower() not in STOP_WORDS:
                return self._first([*near, (word, (start, end))])
        return None

    def topic(self, known: set[str]) -> str:
        """What the question is about: without the words of asking at its ends, and without what the stems
        ``known`` already say there (``in the docs``). ``""`` when nothing else is left."""
        text = self.text
        if (tail := _PLACE_TAIL.search(text)) and all(_knows(known, word) for word in words(tail.group(1))):
            text = text[: tail.start()]
        telling = [
            match
            for match in _TOKEN.finditer(text)
            if not all(part in _REQUEST or _knows(known, part) for part in words(match.group()))
        ]
        return text[telling[0].start() : telling[-1].end()] if telling else ""

    def _plain(self, start: int) -> tuple[str, tuple[int, int]] | None:
        end = start
        for word, first, last in self.tokens:
            if first < start:
                continue
            gap = self.text[end:first]
            if (
                gap.strip()
                or word.lower() in STOP_WORDS | _TIMES
                or word.isdigit()
                or self.text[start:end].count(" ")
            ):
                break
            end = last
        return (self.text[start:end], (start, end)) if end > start else None

    def _is_name(self, match: re.Match[str]) -> bool:
        before = self.text[: match.start()].rstrip()
        begins = not before or before[-1] in ".?!:"
        return (
            match.group() != "I"
            and not (begins and words(match.group())[0] in _REQUEST | {"calculate"})
            and (not begins or " " in match.group())
        )

    def _places(self, labels: list[str]) -> list[int]:
        cut = [[stem(part) for part in words(word)] for word, _, _ in self.tokens]
        size = len(labels)
        return [
            index
            for index in range(len(cut) - size + 1)
            if labels
            and all(label in parts for label, parts in zip(labels, cut[index : index + size], strict=True))
        ]

    def _distance(self, marks: list[int], span: tuple[int, int]) -> float:
        here = next((index for index, (_, _, end) in enumerate(self.tokens) if end > span[0]), 0)
        return min((here - mark if here >= mark else (mark - here) * 1.5 for mark in marks), default=math.inf)

    def _is_free(self, span: tuple[int, int]) -> bool:
        return all(span[1] <= start or end <= span[0] for start, end in self._taken)

    def _first(self, found: Iterable[tuple[_Found, tuple[int, int]]]) -> _Found | None:
        for value, span in found:
            if self._is_free(span):
                self._taken.append(span)
                return value
        return None


def _number(text: str) -> int | float:
    plain = text.replace(",", "")
    return float(plain) if "." in plain else int(plain)


def _knows(known: set[str], word: str) -> bool:
    return any(is_same(stem(word), other) for other in known)
