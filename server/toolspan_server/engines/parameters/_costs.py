"""What validation costs: in steps of the library, estimated from above before it runs.

It holds the interpreter's lock while it runs, whatever thread it is in, and cannot be ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, cast

from ._compile import BACKTRACK_LIMIT
from ._schema_access import (
    Schema,
    is_object,
    listed,
    members,
    resolved,
)

MAX_STEPS = 25_000_000
"""Most steps of one validation: about a second. A step is one part of a pattern at one character, or a tenth
of one value inside an enum's object or array beside a value."""

_MAX_VISITS = 30_000
_FEW = 25
_COMPARED = 10
_IN_PLACE = ("not", "if", "then", "else")
_LISTS = ("allOf", "anyOf", "oneOf")
_REST = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS = ("items", "contains", "unevaluatedItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas")
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
    return min(BACKTRACK_LIMIT, pattern * characters**2) if looks_back else pattern * characters


_TAKE_STEPS = frozenset(("pattern", "patternProperties", "enum"))
_NOTHING = OwnCost(pattern=0, looks_back=False, names=0, compared=0)


def own(schema: Schema) -> OwnCost:
    """What ``schema`` asks without the schemas inside it."""
    if _TAKE_STEPS.isdisjoint(schema):
        return _NOTHING
    pattern = schema.get("pattern")
    patterns = [pattern] if isinstance(pattern, str) else []
    names = [str(name) for name in members(schema, "patternProperties")]
    held = [count(option) for option in listed(schema, "enum") if isinstance(option, dict | list)]
    return OwnCost(
        sum(map(length, patterns)),
        any(map(_LOOKS_BACK.search, [*patterns, *names])),
        sum(map(length, names)),
        _COMPARED * sum(held),
    )


class Costs:
    """Costs of the schemas of the document ``root``."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._weights: dict[int, int] = {}
        self._own: dict[int, OwnCost] = {}
        self._asking: dict[int, bool] = {}
        self._visits = 0

    @cached_property
    def _all(self) -> OwnCost:
        """What all schemas together ask, each as often as there are references."""
        objects = list(_objects(self._root))
        parts = list(map(self._own_of, objects))
        times = 1 + sum(isinstance(part.get("$ref"), str) for part in objects)
        return OwnCost(
            times * sum(part.pattern for part in parts),
            any(part.looks_back for part in parts),
            times * sum(part.names for part in parts),
            times * sum(part.compared for part in parts),
        )

    def is_bounded(self) -> bool:
        """Whether no value, within the limits of arguments, can take too many steps."""
        every = self._all
        return every.pattern + every.names <= _FEW and not every.looks_back and not every.compared

    def weight(self, schema: Any) -> int:
        """How many faults each value may have by ``schema``: as many as there are schemas, options and
        required names in it, those included that it refers to; what is inside itself is counted once."""
        if not is_object(schema):
            return 1
        if (known := self._weights.get(id(schema))) is not None:
            return known
        self._weights[id(schema)] = 0
        asked = len(listed(schema, "enum")) + len(listed(schema, "required"))
        weight = 1 + asked + sum(map(self.weight, self._parts(schema)))
        self._weights[id(schema)] = weight
        return weight

    def too_many(self, value: Any) -> bool:
        """Whether validation of ``value`` may take more than ``MAX_STEPS``."""
        if not self._all.looks_back and self._at_most(value) <= MAX_STEPS:
            return False
        self._visits = 0
        try:
            return self._steps(self._root, value) > MAX_STEPS
        except (_TooMany, RecursionError):
            return True

    def _at_most(self, value: Any) -> int:
        """The steps if every schema asked about all of ``value``."""
        found = [value, *_inside(value)]
        return sum(self._all.steps(one) for one in found)

    def _asks(self, schema: Any) -> bool:
        """Whether ``schema``, or one inside it, asks anything that takes steps, or refers to another."""
        if not is_object(schema):
            return False
        if (known := self._asking.get(id(schema))) is None:
            known = any(
                "$ref" in part or "$dynamicRef" in part or any(self._own_of(part))
                for part in _objects(schema)
            )
            self._asking[id(schema)] = known
        return known

    def _own_of(self, schema: Schema) -> OwnCost:
        """``own(schema)``, found once."""
        if (known := self._own.get(id(schema))) is None:
            known = self._own[id(schema)] = own(schema)
        return known

    def _steps(self, schema: Any, value: Any) -> int:
        if not self._asks(schema):
            return 0
        self._visits += 1
        if self._visits > _MAX_VISITS:
            raise _TooMany
        steps = self._own_of(schema).steps(value)
        steps += sum(self._steps(part, value) for part in self._at_once(schema))
        if isinstance(value, dict):
            return steps + self._in_object(schema, cast("dict[str, Any]", value))
        if isinstance(value, list):
            return steps + self._in_array(schema, cast("Any", value))
        return steps

    def _at_once(self, schema: Schema) -> Iterator[Any]:
        """The schemas that apply to the same value."""
        yield from (schema[keyword] for keyword in _IN_PLACE if keyword in schema)
        for keyword in _LISTS:
            yield from listed(schema, keyword)
        yield from members(schema, "dependentSchemas").values()
        for keyword in ("$ref", "$dynamicRef"):
            if target := resolved(self._root, schema.get(keyword)):
                yield target[1]

    def _in_object(self, schema: Schema, value: dict[str, Any]) -> int:
        known = members(schema, "properties")
        rest = [schema.get("additionalProperties"), schema.get("unevaluatedProperties")]
        rest += members(schema, "patternProperties").values()
        rest = [part for part in rest if is_object(part) and part]
        names = schema.get("propertyNames")
        steps = sum(self._steps(names, name) for name in value) if is_object(names) else 0
        for name, item in value.items():
            steps += self._steps(known.get(name), item) + sum(self._steps(part, item) for part in rest)
        return steps

    def _in_array(self, schema: Schema, value: list[Any]) -> int:
        parts = [part for keyword in _ITEMS if is_object(part := schema.get(keyword))]
        steps = sum(self._steps(part, item) for item in value for part in parts)
        first = zip(listed(schema, "prefixItems"), value, strict=False)
        return steps + sum(self._steps(part, item) for part, item in first)

    def _parts(self, schema: Schema) -> Iterator[Any]:
        yield from self._at_once(schema)
        yield from (part for keyword in _NAMED[:2] for part in members(schema, keyword).values())
        yield from (schema[keyword] for keyword in (*_REST, *_ITEMS) if keyword in schema)
        yield from listed(schema, "prefixItems")


class _TooMany(Exception):
    """The estimate itself takes too long."""


def _objects(value: Any) -> Iterator[Schema]:
    return filter(is_object, chain([value], _inside(value)))
