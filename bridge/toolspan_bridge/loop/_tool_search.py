"""Our own search tool, for more tools than a request may hold: what is found is offered from then on."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ..messages import ToolSpec

__all__ = ["MOST_FOUND", "SEARCH", "best"]

MOST_FOUND = 8
"""How many tools one search finds at most."""

SEARCH = ToolSpec(
    "tool_search",
    "search_tools",
    "Find tools: there are more than those listed here. Give words for what a tool has to do. The tools that "
    "are found are described in the result and can be called from the next turn on.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words for what a tool has to do"}},
        "required": ["query"],
        "additionalProperties": False,
    },
)

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WEIGHTS = (3.0, 1.0, 1.0)
_STEM = 4


def best(query: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools that fit ``query``, the best first, at most ``MOST_FOUND``: by the words that it has in
    common with their names, descriptions and parameters, rare words counting more."""
    texts = [_texts(tool) for tool in tools]
    scores = [0.0] * len(tools)
    for word in _words(query):
        weights = [_weight(of, word) for of in texts]
        having = sum(weight > 0 for weight in weights)
        for place, weight in enumerate(weights):
            scores[place] += weight * math.log(1 + len(tools) / having) if weight else 0
    ranked = sorted(range(len(tools)), key=lambda place: -scores[place])
    return [tools[place] for place in ranked[:MOST_FOUND] if scores[place] > 0]


def _texts(tool: ToolSpec) -> tuple[frozenset[str], ...]:
    properties = tool.schema.get("properties")
    names: Iterable[str] = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else ()
    return _words(tool.name), _words(tool.description), _words(" ".join(names))


def _weight(texts: Sequence[frozenset[str]], word: str) -> float:
    return sum(weight for text, weight in zip(texts, _WEIGHTS, strict=True) if _has(text, word))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text)))


def _has(words: frozenset[str], word: str) -> bool:
    """Whether ``word`` is among ``words``, or one of them begins as it does."""
    if word in words:
        return True
    return len(word) >= _STEM and any(
        len(other) >= _STEM and (other.startswith(word) or word.startswith(other)) for other in words
    )
