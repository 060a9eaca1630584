"""The rule of a mock that fits a call best where none fits it, for people and models to see what is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, cast

from ..conditions import Condition, equal
from ..templates import NOTHING, Scope, path_of, value_at

_MOST_RULES = 1_000
_MOST_CHARACTERS = 500
_COMPARED = 200
_ALMOST = 0.9


def nearest_rule(conditions: Sequence[Mapping[str, Any]], scope: Scope) -> str:
    """The one of ``conditions`` (each a ``when``) that is nearest to what is in ``scope``, as JSON; where it
    is about the arguments as a whole, these arguments. Of more than 1,000 the first ones are looked at."""
    best = max(conditions[:_MOST_RULES], key=lambda when: _nearness(when, scope))
    whole = best.get("arguments") if len(best) == 1 else None
    asked = cast("Mapping[str, Any]", whole).get("equals", best) if isinstance(whole, Mapping) else best
    text = json.dumps(asked, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _nearness(when: Mapping[str, Any], scope: Scope) -> float:
    shares = [_share(wanted, path, scope) for path, wanted in when.items()]
    return sum(shares) / len(shares) if shares else 0.0


def _share(wanted: Any, path: str, scope: Scope) -> float:
    if Condition({path: wanted}).holds(scope):
        return 1.0
    plain = cast("Mapping[str, Any]", wanted).get("equals") if isinstance(wanted, Mapping) else wanted
    return _likeness(plain, value_at(scope, path_of(path)))


def _likeness(one: Any, other: Any) -> float:
    if other is NOTHING:
        return 0.0
    if equal(one, other):
        return 1.0
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left, right = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        names = left.keys() | right.keys()
        return sum(_likeness(left.get(name), right.get(name)) for name in names) / len(names)
    if isinstance(one, str) and isinstance(other, str):
        return _ALMOST * SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED]).ratio()
    return 0.0
