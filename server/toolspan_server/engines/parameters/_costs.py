"""What validation costs: in steps of the library, estimated from above before it runs.

It holds the interpreter's lock while it runs, whatever thread it is in, and cannot be ended.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, cast

from ._compile import BACKTRACK_LIMIT
from ._compile_cost import (
    References,
    TooExpensive,
    followers,
    inside,
    patterns_of,
    references_of,
    times_asked,
)
from ._schema_access import Schema, is_object, listed, members

MAX_STEPS = 25_000_000
"""Most steps of one validation: about a second. A step is one part of a pattern at one character, or a tenth
of one value inside an enum's object or array beside a value, or of one schema applied to one value."""
MAX_VISITS = 30_000
"""How many pairs of a schema and a value the estimate may look at."""

_A_VISIT = 10
_FEW = 25
_COLLECTED = 20_000
_READ_AT_ONCE = 10
"""How many characters that a lookaround reads take as long as a step."""
_COMPARED = 10
_REST = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS = ("items", "contains", "unevaluatedItems", "additionalItems")
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?|\((?:\?[^()]{0,3})?|\)|\{(\d+)(?:,(\d*))?\}|.", re.DOTALL)
_LOOKS_BACK = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9k]")


def count(value: Any) -> int:
    """How many values there are in ``value``, itself included."""
    return 1 + sum(1 for _ in _inside(value))


def _inside(value: Any) -> Iterator[Any]:
    """Every value inside ``value``, however deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        items: Iterable[Any] = ()
        if isinstance(one, dict):
            items = cast("dict[str, Any]", one).values()
        elif isinstance(one, list):
            items = cast("Any", one)
        yield from items
        waiting += items


def length(pattern: str) -> int:
    """How long ``pattern`` is with its repetitions written out: 6 for ``(ab){3}``."""
    before: list[int] = []
    total = last = 0
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text[0] == "(":
            before.append(total + last)
            total = last = 0
        elif text == ")" and before:
            total, last = before.pop(), total + last
        elif token[1]:
            last *= max(int(token[2] or token[1]), 1)
        else:
            total, last = total + last, 1
    return sum(before) + total + last


class OwnCost(NamedTuple):
    """What one schema asks itself: how long its patterns are, and how many values its enum's objects hold."""

    pattern: int
    looks_back: bool
    names: int
    compared: int

    def steps(self, value: Any) -> int:
        """How many steps it takes with ``value``, what is inside left out."""
        if isinstance(value, str):
            return _matching(self.pattern, self.looks_back, len(value))
        if isinstance(value, dict):
            names = sum(map(len, cast("dict[str, Any]", value)))
            return self.compared + _matching(self.names, self.looks_back, names)
        return self.compared if isinstance(value, list) else 0


def _matching(pattern: int, looks_back: bool, characters: int) -> int:
    if not looks_back:
        return pattern * characters
    tries = min(BACKTRACK_LIMIT, pattern * characters**2)
    return max(tries, tries * characters // _READ_AT_ONCE)  # each may read the rest of the text


_TAKE_STEPS = frozenset(("pattern", "patternProperties", "enum"))
_NOTHING = OwnCost(pattern=0, looks_back=False, names=0, compared=0)


def own(schema: Schema) -> OwnCost:
    """What ``schema`` asks without the schemas inside it."""
    if _TAKE_STEPS.isdisjoint(schema):
        return _NOTHING
    patterns = list(patterns_of(schema))
    names = [str(name) for name in members(schema, "patternProperties")]
    patterns = patterns[: len(patterns) - len(names)]
    held = [count(option) for option in listed(schema, "enum") if isinstance(option, dict | list)]
    return OwnCost(
        sum(map(length, patterns)),
        any(map(_LOOKS_BACK.search, [*patterns, *names])),
        sum(map(length, names)),
        _COMPARED * sum(held),
    )


class Costs:
    """Costs of the schemas of the document ``root``. An estimate looks at ``visits`` pairs of a schema and a
    value at most; what takes more is too many."""

    def __init__(self, root: Schema, visits: int = MAX_VISITS) -> None:
        self._root = root
        self._visits = visits
        self._references = References(root)
        self._weights: dict[int, float] = {}
        self._crowds: dict[int, tuple[float, float]] = {}
        self._own: dict[int, OwnCost] = {}
        self._asking: dict[int, bool] = {}

    @cached_property
    def _all(self) -> OwnCost:
        """What all schemas together ask, each as often as there are references."""
        objects = list(_objects(self._root))
        parts = list(map(self._own_of, objects))
        times = 1 + sum(1 for part in objects for _ in references_of(part))
        return OwnCost(
            times * sum(part.pattern for part in parts),
            any(part.looks_back for part in parts),
            times * sum(part.names for part in parts),
            times * sum(part.compared for part in parts),
        )

    @cached_property
    def _most_at_one(self) -> float:
        """How many schemas may apply to any one value."""
        try:
            return self._crowd(self._root)[1]
        except (TooExpensive, RecursionError):
            return math.inf

    def is_bounded(self) -> bool:
        """Whether no value, within the limits of arguments, can take too many steps."""
        every = self._all
        few = every.pattern + every.names + self._most_at_one <= _FEW
        return few and not every.looks_back and not every.compared

    def has_pieces(self) -> bool:
        """Whether each schema can be compiled by itself in bounded time."""
        try:
            self._references.check_pieces()
        except TooExpensive:
            return False
        return True

    def most_faults(self, schema: Any, value: Any) -> float:
        """How many faults the library may collect of ``value`` by ``schema``: for each value inside as many
        as there are schemas, options and required names, those included that it refers to."""
        try:
            found = self._weight(schema) * count(value)
            if found <= _COLLECTED and self._most_at_one == math.inf:
                found = max(found, _Estimate(self, _COLLECTED).steps(schema, value) / _A_VISIT)
        except (TooExpensive, RecursionError):
            return math.inf
        return found

    def too_many(self, value: Any) -> bool:
        """Whether validation of ``value`` may take more than ``MAX_STEPS``."""
        if not self._all.looks_back and self._at_most(value) <= MAX_STEPS:
            return False
        try:
            once = self._references.recursive
            return _Estimate(self, self._visits, once).steps(self._root, value) > MAX_STEPS
        except (TooExpensive, RecursionError):
            return True

    def _at_most(self, value: Any) -> float:
        """The steps if every schema asked about all of ``value``."""
        found = [value, *_inside(value)]
        return _A_VISIT * self._most_at_one * len(found) + sum(self._all.steps(one) for one in found)

    def asks(self, schema: Schema) -> bool:
        """Whether ``schema``, or one inside it, asks anything that takes steps, or refers to another."""
        if (known := self._asking.get(id(schema))) is None:
            known = any(any(references_of(part)) or any(self._own_of(part)) for part in _objects(schema))
            self._asking[id(schema)] = known
        return known

    def own(self, schema: Schema, value: Any) -> int:
        """The steps that ``schema`` itself takes with ``value`` itself."""
        return _A_VISIT + self._own_of(schema).steps(value)

    def followers(self, schema: Schema) -> list[Any]:
        """The schemas that apply to the same value as ``schema``, each as often as it is asked."""
        return list(followers(schema, self._references)) * times_asked(schema)

    def plain(self, schema: Schema, values: int) -> float:
        """The steps of a ``schema`` that asks nothing of itself, for so many ``values``."""
        return _A_VISIT * self._crowd(schema)[1] * values

    def _own_of(self, schema: Schema) -> OwnCost:
        """``own(schema)``, found once."""
        if (known := self._own.get(id(schema))) is None:
            known = self._own[id(schema)] = own(schema)
        return known

    def _crowd(self, schema: Any) -> tuple[float, float]:
        """How many schemas apply to a value when ``schema`` does, and to any one value, that or one inside
        it. It is without end where a schema is inside itself, as values are not."""
        if not is_object(schema):
            return 1, 1
        if (known := self._crowds.get(id(schema))) is None:
            self._crowds[id(schema)] = math.inf, math.inf
            beside = list(map(self._crowd, self.followers(schema)))
            here = 1 + sum(count for count, _ in beside)
            inside = self._most_inside(schema) + sum(most for _, most in beside)
            known = self._crowds[id(schema)] = here, max(here, inside)
        return known

    def _most_inside(self, schema: Schema) -> float:
        """How many of the schemas inside ``schema`` may apply to any one value inside the value."""

        def most(parts: Iterable[Any]) -> list[float]:
            return [self._crowd(part)[1] for part in parts]

        named = max(most(members(schema, "properties").values()), default=0)
        named += sum(most(members(schema, "patternProperties").values()))
        named += sum(most(schema[keyword] for keyword in _REST if keyword in schema))
        first = max(most([*listed(schema, "prefixItems"), *listed(schema, "items")]), default=0)
        return max(named, first + sum(most(schema[keyword] for keyword in _ITEMS if keyword in schema)))

    def _weight(self, schema: Any) -> float:
        if not is_object(schema):
            return 1
        if (known := self._weights.get(id(schema))) is not None:
            return known
        self._weights[id(schema)] = 0
        asked = len(listed(schema, "enum")) + len(listed(schema, "required"))
        below = [*inside(schema), *self._references.followed(schema)]
        weight = self._weights[id(schema)] = 1 + asked + sum(map(self._weight, below))
        return weight


class _Estimate:
    """The steps of one validation, measured from above: each pair of a schema and a value is looked at once,
    and counted as often as it is met, but for the schemas ``once``."""

    def __init__(self, costs: Costs, visits: int, once: frozenset[int] = frozenset()) -> None:
        self._costs = costs
        self._once = once
        self._left = visits
        self._known: dict[tuple[int, int], float] = {}
        self._counts: dict[int, int] = {}

    def steps(self, schema: Any, value: Any) -> float:
        """Raises ``TooExpensive`` when there are too many pairs."""
        if not is_object(schema):
            return _A_VISIT
        if not self._costs.asks(schema):
            return self._costs.plain(schema, self._count(value))
        pair = id(schema), id(value)
        if (known := self._known.get(pair)) is not None:
            return _A_VISIT if id(schema) in self._once and known < math.inf else known
        self._left -= 1
        if self._left < 0:
            raise TooExpensive("the estimate itself takes too long")
        self._known[pair] = math.inf  # a schema that leads back to itself for the same value
        beside = self._costs.followers(schema)
        found = self._costs.own(schema, value) + sum(self.steps(part, value) for part in beside)
        if isinstance(value, dict):
            found += self._in_object(schema, cast("dict[str, Any]", value))
        elif isinstance(value, list):
            found += self._in_array(schema, cast("Any", value))
        self._known[pair] = found
        if not self._once.isdisjoint(map(id, beside)):
            del self._known[pair]  # it takes less the next time
        return found

    def _count(self, value: Any) -> int:
        if not isinstance(value, dict | list):
            return 1
        if (known := self._counts.get(id(value))) is None:  # pyright: ignore[reportUnknownArgumentType]
            known = self._counts[id(value)] = count(value)  # pyright: ignore[reportUnknownArgumentType]
        return known

    def _in_object(self, schema: Schema, value: dict[str, Any]) -> float:
        known = members(schema, "properties")
        rest = [schema.get("additionalProperties"), schema.get("unevaluatedProperties")]
        rest += members(schema, "patternProperties").values()
        rest = [part for part in rest if is_object(part) and part]
        names = schema.get("propertyNames")
        steps = sum(self.steps(names, name) for name in value) if is_object(names) else 0
        for name, item in value.items():
            steps += self.steps(known.get(name), item) + sum(self.steps(part, item) for part in rest)
        return steps

    def _in_array(self, schema: Schema, value: list[Any]) -> float:
        parts = [part for keyword in _ITEMS if is_object(part := schema.get(keyword))]
        steps = sum(self.steps(part, item) for item in value for part in parts)
        first = [*listed(schema, "prefixItems"), *listed(schema, "items")]
        return steps + sum(self.steps(part, item) for part, item in zip(first, value, strict=False))


def _objects(value: Any) -> Iterator[Schema]:
    return filter(is_object, chain([value], _inside(value)))
