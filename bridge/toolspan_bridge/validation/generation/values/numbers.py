"""Values of parameters that are numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..choices import Choices
from ..english import words_of
from .pools import numbers_for

_FEW = (7, 12, 25, 3, 42)
_LARGEST = 2**53


def numbers(name: str, rules: Mapping[str, Any], choices: Choices) -> Iterator[float]:
    """Numbers for the parameter ``name``, the most fitting first; each must still be checked."""
    whole = rules.get("type") == "integer"
    usual = [*choices.shuffled(numbers_for(words_of(name))), *choices.shuffled(_FEW)]
    low, high = _bound(rules, "inimum", -1), _bound(rules, "aximum", 1)
    between = _between(low, high, choices)
    step = rules.get("multipleOf")
    for number in (*usual, *between):
        if isinstance(step, int | float) and step > 0:
            least = math.ceil(max(low, number - step) / step) * step
            yield _plain(least if least <= high else number, whole=whole)
        yield _plain(number, whole=whole)


def _between(low: float, high: float, choices: Choices) -> Iterator[float]:
    least, most = max(low, -_LARGEST), min(high, _LARGEST)
    if least > most:
        return
    if math.ceil(least) <= math.floor(most):
        first = math.ceil(least)
        yield choices.number(first, int(min(math.floor(most), first + 100)), "between")
        yield from (first, first + 1, math.floor(most), math.floor(most) - 1)
    yield from ((least + most) / 2, least, most)


def _bound(rules: Mapping[str, Any], ending: str, side: int) -> float:
    kinds = ("m" + ending, "exclusiveM" + ending)
    given = [rules[key] for key in kinds if isinstance(rules.get(key), int | float)]
    found = [float(each) for each in given if not isinstance(each, bool) and math.isfinite(each)]
    return (max(found) if side < 0 else min(found)) if found else side * math.inf


def _plain(number: float, *, whole: bool) -> float:
    return int(number) if whole or float(number).is_integer() else float(number)
