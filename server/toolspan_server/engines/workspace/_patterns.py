"""Glob patterns over paths, matched part by part in time that grows with path and pattern only.

``*`` and ``?`` match in one part, ``**`` any number of parts, ``[a-z]`` and ``[!a]`` one character, ``{a,b}``
either; a backslash takes the next character as it is. What opens no closed bracket or brace is itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_ALTERNATIVES = 64
_LONGEST = 1_000
_BRACES = re.compile(r"\{([^{},]*,[^{}]*)\}")

States = frozenset[tuple[int, int]]
"""Where in a pattern its match may be: (alternative, part)."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as its alternatives, each a sequence of parts; ``None`` is ``**``."""

    alternatives: tuple[tuple[re.Pattern[str] | None, ...], ...]

    @classmethod
    def of(cls, text: str) -> Pattern:
        """The pattern ``text``. Raises ``ValueError`` with what is wrong."""
        if not text or len(text) > _LONGEST:
            raise ValueError(f"it has {len(text):,} characters, not 1 to {_LONGEST:,}")
        return cls(tuple(tuple(_parts(each)) for each in _alternatives(text)))

    def start(self) -> States:
        """Where a match begins."""
        return self._closed((number, 0) for number in range(len(self.alternatives)))

    def step(self, states: States, name: str) -> States:
        """Where it is after the next part, ``name``; empty when nothing below can match."""
        return self._closed(self._next(states, name))

    def accepts(self, states: States) -> bool:
        """Whether it may end there."""
        return any(at == len(self.alternatives[number]) for number, at in states)

    def matches(self, parts: Iterable[str]) -> bool:
        """Whether a path with ``parts`` matches."""
        states = self.start()
        for part in parts:
            states = self.step(states, part)
        return self.accepts(states)

    def _next(self, states: States, name: str) -> Iterable[tuple[int, int]]:
        for number, at in states:
            parts = self.alternatives[number]
            if at == len(parts):
                continue
            wanted = parts[at]
            if wanted is None:
                yield number, at
            elif wanted.match(name):
                yield number, at + 1

    def _closed(self, states: Iterable[tuple[int, int]]) -> States:
        """``states`` and those that they reach by a ``**`` which matches no part."""
        found: set[tuple[int, int]] = set()
        for number, start in states:
            parts, at = self.alternatives[number], start
            found.add((number, at))
            while at < len(parts) and parts[at] is None:
                at += 1
                found.add((number, at))
        return frozenset(found)


def part_pattern(part: str) -> re.Pattern[str]:
    """The pattern of one part of a path. Its time is linear: each star takes the least it can, for good."""
    pieces = [""]
    at = 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "."
        elif character == "[" and (end := _bracket_end(part, at)) is not None:
            pieces[-1] += _bracket(part[at:end])
            at = end + 1
        else:
            if character == "\\" and at < len(part):
                character = part[at]
                at += 1
            pieces[-1] += re.escape(character)
    if len(pieces) == 1:
        return re.compile(pieces[0] + r"\Z", re.DOTALL)
    middle = "".join(f"(?>.*?{piece})" for piece in pieces[1:-1] if piece)
    return re.compile(f"{pieces[0]}{middle}.*{pieces[-1]}\\Z", re.DOTALL)


def _parts(text: str) -> Iterable[re.Pattern[str] | None]:
    before: str | None = None
    for part in text.split("/"):
        if part in ("", ".") or part == before == "**":
            continue
        if part == "..":
            raise ValueError("it leads upwards")
        yield None if part == "**" else part_pattern(part)
        before = part


def _alternatives(text: str) -> Sequence[str]:
    found = [text]
    while (braces := next((match for each in found if (match := _BRACES.search(each))), None)) is not None:
        whole = braces.string
        found.remove(whole)
        found += [whole[: braces.start()] + each + whole[braces.end() :] for each in braces[1].split(",")]
        if len(found) > MOST_ALTERNATIVES:
            raise ValueError(f"its braces give more than {MOST_ALTERNATIVES} patterns")
    return found


def _bracket_end(part: str, start: int) -> int | None:
    """Where the bracket that opens before ``start`` is closed; a ``]`` right after it is a member."""
    first = start + (part[start : start + 1] in ("!", "^"))
    end = part.find("]", first + 1)
    return None if end < 0 else end


def _bracket(inside: str) -> str:
    negated = inside[0] in "!^"
    members = inside[1:] if negated else inside
    pieces: list[str] = []
    at = 0
    while at < len(members):
        low = members[at]
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            high = members[at + 2]
            if low <= high:
                pieces.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            pieces.append(re.escape(low))
            at += 1
    if not pieces:
        return "." if negated else r"(?!)"
    return f"[{'^' if negated else ''}{''.join(pieces)}]"
