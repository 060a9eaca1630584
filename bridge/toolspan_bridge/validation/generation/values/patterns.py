"""Texts that a regular expression matches, of the part of the syntax that schemas use."""

from __future__ import annotations

import string
from dataclasses import dataclass

from ..choices import Choices

_CLASSES = {"d": string.digits, "w": string.ascii_lowercase + string.digits, "s": " "}
_ANY = string.ascii_lowercase + string.digits
_PRINTABLE = string.ascii_letters + string.digits + "-_.:/ @+#"
_MOST_REPEATS = 64


def matching(pattern: str, choices: Choices) -> str | None:
    """A text that ``pattern`` should match; ``None`` for what is not understood, such as a lookahead."""
    try:
        reader = _Reader(pattern, choices)
        text = reader.alternatives()
    except (IndexError, ValueError, RecursionError):
        return None
    return text if reader.at == len(pattern) else None


@dataclass
class _Reader:
    """Goes through a pattern once and writes what it reads."""

    pattern: str
    choices: Choices
    at: int = 0

    def alternatives(self) -> str:
        ways = [self._sequence()]
        while self._is_next("|"):
            self.at += 1
            ways.append(self._sequence())
        return self.choices.one(ways, f"way {self.at}")

    def _sequence(self) -> str:
        made: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            made.append(self._repeated())
        return "".join(made)

    def _repeated(self) -> str:
        began = self.at
        first = self._atom()
        after = self.at
        least, most = self._counts()
        end = self.at
        times = self.choices.number(least, min(most, max(least, 1) + 2, _MOST_REPEATS), f"times {began}")
        made = [first] if times else []
        for turn in range(1, times):
            self.at = began
            again = _Reader(self.pattern, self.choices.of(turn), began)
            made.append(again._atom())
        self.at = end if end > after else after
        return "".join(made)

    def _counts(self) -> tuple[int, int]:
        sign = self.pattern[self.at] if self.at < len(self.pattern) else ""
        simple = {"?": (0, 1), "*": (0, _MOST_REPEATS), "+": (1, _MOST_REPEATS)}
        least, most = 1, 1
        if sign in simple and sign:
            self.at += 1
            least, most = simple[sign]
        elif sign == "{":
            end = self.pattern.index("}", self.at)
            low, comma, high = self.pattern[self.at + 1 : end].partition(",")
            self.at, least = end + 1, int(low)
            most = int(high) if high else _MOST_REPEATS if comma else least
        if self._is_next("?"):
            self.at += 1  # as few as possible: the same texts
        if least > _MOST_REPEATS or most < least:
            raise ValueError("too many")
        return least, most

    def _atom(self) -> str:
        sign = self.pattern[self.at]
        self.at += 1
        if sign in "^$":
            return ""
        if sign == "(":
            return self._group()
        if sign == "[":
            return self.choices.one(self._members(), f"of {self.at}")
        if sign == "\\":
            return self._escaped()
        if sign == ".":
            return self.choices.one(_ANY, f"any {self.at}")
        if sign in "*+?{":
            raise ValueError("nothing to repeat")
        return sign

    def _group(self) -> str:
        if self._is_next("?"):
            if not self.pattern.startswith("?:", self.at):
                raise ValueError("a group of another sort")
            self.at += 2
        text = self.alternatives()
        if not self._is_next(")"):
            raise ValueError("no end of the group")
        self.at += 1
        return text

    def _escaped(self) -> str:
        letter = self.pattern[self.at]
        self.at += 1
        if letter in _CLASSES:
            return self.choices.one(_CLASSES[letter], f"of {self.at}")
        if letter.isalnum():
            raise ValueError("a class of another sort")
        return letter

    def _members(self) -> str:
        negated = self._is_next("^")
        self.at += negated
        members = ""
        while not self._is_next("]") or not members:
            members += self._member()
        self.at += 1
        return "".join(each for each in _PRINTABLE if each not in members) if negated else members

    def _member(self) -> str:
        sign = self.pattern[self.at]
        self.at += 1
        if sign == "\\":
            letter = self.pattern[self.at]
            self.at += 1
            if letter.isalnum() and letter not in _CLASSES:
                raise ValueError("a class of another sort")
            return _CLASSES.get(letter, letter)
        if self._is_next("-") and self.pattern[self.at + 1] not in "]\\":
            last = self.pattern[self.at + 1]
            self.at += 2
            if not sign <= last or ord(last) - ord(sign) > 512:
                raise ValueError("no such range")
            return "".join(map(chr, range(ord(sign), ord(last) + 1)))
        return sign

    def _is_next(self, sign: str) -> bool:
        return self.pattern.startswith(sign, self.at)
