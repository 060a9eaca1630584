"""An index of tools by the words of their names, descriptions and parameters."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ...tools.registry import Tool

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME, _DESCRIPTION, _PARAMETERS = 3.0, 1.0, 1.0
_STEM = 4
_MOST_WORDS = 50


class ToolIndex:
    """The words of ``tools``, each with the tools that have it. Made in one pass over them; a search looks
    only at the tools that have one of its words."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._having: dict[str, dict[int, float]] = {}
        for place, tool in enumerate(tools):
            for words, weight in _texts(tool):
                for word in words:
                    having = self._having.setdefault(word, {})
                    having[place] = having.get(place, 0.0) + weight
        self._words = sorted(self._having)

    def best(self, query: str, most: int) -> list[Tool]:
        """The tools that fit ``query``, the best first, at most ``most``: by the words that they have in
        common, rare words counting more. A word also stands for those that begin as it does."""
        scores: dict[int, float] = {}
        for word in list(_words(query))[:_MOST_WORDS]:
            having: dict[int, float] = {}
            for known in self._like(word):
                for place, weight in self._having[known].items():
                    having[place] = max(having.get(place, 0.0), weight)
            for place, weight in having.items():
                rarity = math.log(1 + len(self._tools) / len(having))
                scores[place] = scores.get(place, 0.0) + weight * rarity
        ranked = sorted(scores, key=lambda place: (-scores[place], place))
        return [self._tools[place] for place in ranked[:most]]

    def _like(self, word: str) -> Iterator[str]:
        """The known words that ``word`` stands for: itself, what begins with it, and its own beginnings."""
        if len(word) < _STEM:
            if word in self._having:
                yield word
            return
        start = bisect_left(self._words, word)
        for known in self._words[start:]:
            if not known.startswith(word):
                break
            yield known
        yield from (word[:end] for end in range(_STEM, len(word)) if word[:end] in self._having)


def _texts(tool: Tool) -> Iterator[tuple[Iterable[str], float]]:
    config = tool.config
    yield _words(config.name), _NAME
    yield _words(f"{config.title or ''} {config.description} {' '.join(config.tags)}"), _DESCRIPTION
    properties = config.parameters.get("properties")
    names = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else ()
    yield _words(" ".join(names)), _PARAMETERS


def _words(text: str) -> dict[str, None]:
    """The words of ``text`` in their order, each once."""
    return dict.fromkeys(word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text)))
