"""Which tools a question is about: by the words that both use, and by nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....messages import ToolSpec
from ...wire.json_types import is_list, is_object
from ._arguments import fill, takes_arithmetic
from ._text import QuestionText
from ._words import is_same, stems

_NAME, _DESCRIPTION, _PARAMETER, _VALUE = 3.0, 1.0, 0.7, 0.7
_ABBREVIATED = 0.5
_ARITHMETIC, _PLAIN, _MISSING = 3.0, 0.3, 0.5
_THRESHOLD = 0.9
_CLAUSES = re.compile(
    r"(?<!\s)\s*;\s*|(?:,|(?<!\s))\s+(?:and|then|also)\s+(?:(?:then|also)\s+)?|(?<=[.?!])\s+"
)
_MOST_CALLS = 8
_TRIED = 8


@dataclass(frozen=True, slots=True)
class Pick:
    """A tool and its arguments. ``score`` is how much of the question the tool covers; the pick is
    ``whole`` when the question plainly holds every required argument."""

    tool: ToolSpec
    arguments: Mapping[str, Any]
    score: float
    whole: bool


def pick(question: str, tools: Sequence[ToolSpec], *, always: bool = False) -> list[Pick]:
    """The calls that ``question`` asks for: none, one, or one for each of its parts.

    With ``always`` the best tool is taken however little it has in common with the question.
    """
    index = _Index(tools)
    parts = [part for part in _CLAUSES.split(question) if part and part.strip()]
    if 1 < len(parts) <= _MOST_CALLS:
        found = [best for part in parts if (best := index.best(part, _THRESHOLD)) and best.whole]
        calls = [(each.tool.key, each.arguments) for each in found]
        if len(found) == len(parts) and all(call not in calls[:place] for place, call in enumerate(calls)):
            return found
    chosen = index.best(question, -math.inf if always else _THRESHOLD)
    return [chosen] if chosen else []


class _Index:
    """The words of all tools, each with its weight: a word that every tool uses weighs little."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._tools = [(tool, _profile(tool)) for tool in tools]

    def best(self, question: str, threshold: float) -> Pick | None:
        words = stems(question)
        using = {word: [_weight(word, profile) for _, profile in self._tools] for word in words}
        telling = {word: self._telling(weights) for word, weights in using.items()}
        text = QuestionText(question)
        scores = [
            sum(telling[word] * using[word][place] for word in words)
            + _ARITHMETIC * (bool(text.arithmetic) and takes_arithmetic(tool.schema))
            for place, (tool, _) in enumerate(self._tools)
        ]
        likely = sorted(range(len(scores)), key=lambda place: -scores[place])[:_TRIED]
        found = [self._filled(question, place, scores[place]) for place in sorted(likely)]
        best = max(found, key=lambda each: each.score, default=None)
        return best if best and best.score >= threshold else None

    def _filled(self, question: str, place: int, score: float) -> Pick:
        tool, profile = self._tools[place]
        filled = fill(tool.schema, QuestionText(question), set(profile))
        score += _PLAIN * filled.plain - _MISSING * filled.missing
        return Pick(tool, filled.values, score, filled.whole)

    def _telling(self, weights: Sequence[float]) -> float:
        return math.log(1 + (len(weights) + 1) / (sum(map(bool, weights)) + 1))


def _weight(word: str, profile: Mapping[str, float]) -> float:
    if word in profile:
        return profile[word]
    return max(
        (_ABBREVIATED * weight for other, weight in profile.items() if is_same(word, other)), default=0.0
    )


def _profile(tool: ToolSpec) -> dict[str, float]:
    """Each stem that the tool uses of itself, with the weight of the most prominent place where it does."""
    profile: dict[str, float] = {}
    properties = tool.schema.get("properties")
    for text, weight in (
        *_parameter_words(properties if is_object(properties) else {}),
        (tool.description, _DESCRIPTION),
        (tool.name, _NAME),
    ):
        profile |= {word: max(weight, profile.get(word, 0.0)) for word in stems(text)}
    return profile


def _parameter_words(properties: Mapping[str, Any]) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for name, schema in properties.items():
        described: Mapping[str, Any] = schema if is_object(schema) else {}
        found += [(name, _PARAMETER), (str(described.get("description", "")), _PARAMETER / 2)]
        options = described.get("enum")
        if is_list(options):
            found += [(str(option), _VALUE) for option in options]
    return found
