"""How like tools are to each other, and to what is said; those that share no word are not looked at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from .subjects import Subject

__all__ = ["Likeness", "likeness_to"]

_COMMON = 256
"""A word that more tools have does not lead to them by itself: there may be as many as there are tools."""

_DIGITS = 6


class Likeness:
    """The likeness of ``tools`` by their words."""

    def __init__(self, tools: Sequence[Subject]) -> None:
        counts = Counter(word for tool in tools for word in tool.words)
        self._rarity = {word: math.log((1 + len(tools)) / count) for word, count in counts.items()}
        """How much a word says about which of the tools is meant: 0 for one that all have."""
        self._tools = tools
        self._having: dict[str, list[int]] = {}
        for place, tool in enumerate(tools):
            for word in tool.words | tool.named:
                self._having.setdefault(word, []).append(place)
        nothing = [self.of(frozenset(), tool) for tool in tools]
        self._of_nothing = sorted(range(len(tools)), key=lambda place: (-nothing[place], place))
        self._by_name = sorted(range(len(tools)), key=lambda place: tools[place].name)

    def of(self, said: frozenset[str], tool: Subject) -> float:
        """How much of what is ``said`` the tool has, its name twice, less what its name has more."""
        hit = sum(self._rarity.get(word, 0) for word in said & tool.words)
        named = sum(self._rarity.get(word, 0) for word in said & tool.named)
        unsaid = sum(self._rarity.get(word, 0) for word in tool.named - said)
        return round(hit + named - 0.5 * unsaid, _DIGITS)

    def rival(self, said: frozenset[str], tool: Subject) -> Subject | None:
        """The first of the other tools that are most like what is ``said``, where ``tool`` is no more like
        it."""
        mine = self.of(said, tool)
        common = {word for word in said if len(self._having.get(word, ())) > _COMMON}
        if mine > round(2 * sum(self._rarity.get(word, 0) for word in common), _DIGITS):
            places = self._sharing(said - common)  # no tool comes near by words that are common alone
        else:
            places = self._sharing(said)
            others = (place for place in self._of_nothing if place not in places)
            silent = next((place for place in others if self._tools[place] is not tool), None)
            places |= set() if silent is None else {silent}
        candidates = [each for place in sorted(places) if (each := self._tools[place]) is not tool]
        nearest = max(candidates, key=lambda each: self.of(said, each), default=None)
        return None if nearest is None or mine > self.of(said, nearest) else nearest

    def near(self, tool: Subject, most: int) -> list[Subject]:
        """Up to ``most`` other tools, those that share the most of all their words with ``tool`` first."""
        places: set[int] = set()
        for word in sorted(tool.words, key=lambda word: (len(self._having[word]), word)):
            if len(places) > _COMMON:
                break
            places.update(self._having[word][: 2 * _COMMON])
        places.update(self._by_name[: most + 1])
        others = [each for place in places if (each := self._tools[place]) is not tool]
        return sorted(others, key=lambda each: (-_shared(tool, each), each.name))[:most]

    def _sharing(self, words: Collection[str]) -> set[int]:
        return {place for word in words for place in self._having.get(word, ())}


def _shared(tool: Subject, other: Subject) -> float:
    return len(other.words & tool.words) / (len(other.words | tool.words) or 1)


_MADE: list[tuple[tuple[Subject, ...], Likeness]] = []
_KEPT = 4


def likeness_to(tools: tuple[Subject, ...]) -> Likeness:
    """The likeness of ``tools``, made once for that very tuple."""
    for known, likeness in _MADE:
        if known is tools:
            return likeness
    likeness = Likeness(tools)
    _MADE[:] = [(tools, likeness), *_MADE[: _KEPT - 1]]
    return likeness
