"""How many schemas apply to a value and to those inside it, whatever the value is.

What is found for one value alone is in ``_compile_cost``: here are schemas that grow from level to level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ._compile_cost import AT_ONE_VALUE, IN_A_ROW, TooExpensive
from ._subschemas import (
    REFERENCES,
    Schema,
    anchors_of,
    target_of,
    walk,
)

IN_ALL = 100_000
"""How many schemas may apply to a value and everything inside it, same places counted once."""

NAMED = 500_000
"""How many properties times schemas of their object there may be, which the count itself looks at."""

_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_OTHERS = ("additionalProperties", "unevaluatedProperties")

Count = dict[int, int]


def check_expansion(root: Schema) -> None:
    """Raise ``TooExpensive`` when ``root`` applies too many schemas to a value, or schemas without end."""
    _Expansion(root).run()


class _Expansion:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._anchors = anchors_of(list(walk(root)))
        self._schemas: dict[int, Schema] = {}
        self._work = self._pairs = 0

    def run(self) -> None:
        waiting: list[Count] = [self._counted([(self._root, 1)])]
        seen: set[frozenset[tuple[int, int]]] = set()
        while waiting:
            place = waiting.pop()
            if (signature := frozenset(place.items())) in seen:
                continue
            seen.add(signature)
            waiting.extend(self._inside(self._applied(place)))

    def _counted(self, schemas: list[tuple[Any, int]]) -> Count:
        count: Counter[int] = Counter()
        for schema, times in schemas:
            if isinstance(schema, Mapping):
                known = cast("Schema", schema)
                self._schemas[id(known)] = known
                count[id(known)] += times
        return count

    def _applied(self, place: Count) -> Count:
        """All schemas that apply to a value when those of ``place`` do, each with how often."""
        applied: Counter[int] = Counter()
        total = 0
        waiting = [(self._schemas[key], times, 1) for key, times in place.items()]
        while waiting:
            schema, times, row = waiting.pop()
            self._schemas[id(schema)] = schema
            applied[id(schema)] += times
            total += times
            self._work += 1
            self._check_limits(row, total)
            waiting += [(follower, times, row + 1) for follower in self._followers(schema)]
        return applied

    def _check_limits(self, row: int, total: int) -> None:
        if row > IN_A_ROW:
            raise TooExpensive(f"more than {IN_A_ROW} schemas in a row, or one that leads back to itself")
        if total > AT_ONE_VALUE:
            raise TooExpensive(f"more than {AT_ONE_VALUE:,} schemas apply to one value")
        if self._work > IN_ALL:
            raise TooExpensive(f"more than {IN_ALL:,} schemas apply to an object and what is in it")

    def _followers(self, schema: Schema) -> Iterator[Schema]:
        """The schemas that apply to the same value as ``schema``."""
        followers: list[Any] = [schema.get(keyword) for keyword in _IN_PLACE]
        for keyword in _IN_PLACE_LISTS:
            followers += _members(schema.get(keyword))
        followers += _named(schema, "dependentSchemas").values()
        for keyword in REFERENCES:
            if isinstance(reference := schema.get(keyword), str):
                followers.append(target_of(self._root, reference, self._anchors))
        return (cast("Schema", follower) for follower in followers if isinstance(follower, Mapping))

    def _inside(self, applied: Count) -> Iterator[Count]:
        """For each place inside the value, the schemas that apply there."""
        schemas = [(self._schemas[key], times) for key, times in applied.items()]
        names = {name for schema, _ in schemas for name in _named(schema, "properties")}
        self._pairs += len(schemas) * len(names)
        if self._pairs > NAMED:
            raise TooExpensive(f"more than {NAMED:,} pairs of a property and a schema of its object")
        for name in [*names, None]:
            yield self._counted(
                [(part, times) for schema, times in schemas for part in _at_name(schema, name)]
            )
        for schema, times in schemas:
            for part in [*_named(schema, "patternProperties").values(), schema.get("propertyNames")]:
                yield self._counted([(part, times)])
        longest = max((len(_members(schema.get("prefixItems"))) for schema, _ in schemas), default=0)
        for index in range(longest + 1):
            yield self._counted(
                [(part, times) for schema, times in schemas for part in _at_index(schema, index)]
            )


def _at_name(schema: Schema, name: str | None) -> list[Any]:
    """What ``schema`` applies to its property ``name``, or with ``None`` to those that it does not name."""
    properties = _named(schema, "properties")
    if name is not None and name in properties:
        return [properties[name]]
    return [schema.get(keyword) for keyword in _OTHERS]


def _at_index(schema: Schema, index: int) -> list[Any]:
    prefix = _members(schema.get("prefixItems"))
    own = prefix[index] if index < len(prefix) else schema.get("items")
    return [own, schema.get("contains"), schema.get("unevaluatedItems")]


def _members(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


def _named(schema: Schema, keyword: str) -> Mapping[str, Any]:
    value = schema.get(keyword)
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
