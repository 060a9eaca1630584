"""Faults of a value that is too large to be validated whole: part by part, up to the number reported."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from ...common.json_values import dotted
from ...schema.json_schema_faults import ValueNames, faults_of, subject_of
from ._compile import compile_parts, compile_schema
from ._costs import Costs
from ._schema_access import (
    Schema,
    is_object,
    listed,
    members,
    pointer,
    resolved,
)

if TYPE_CHECKING:
    from jsonschema_rs import ValidatorMap

MAX_FOUND = 5_000
"""About how many faults, those of every form of a choice included, the library may collect for one answer."""

TOO_LARGE = "and is too large to find out where it does not"

_ALONE = (
    *("type", "enum", "const", "pattern", "format", "dependentRequired", "uniqueItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties"),
)

Place = tuple[str | int, ...]


class Search:
    """Looks for faults by the schema ``root``; the library collects at most ``MAX_FOUND`` for all of them."""

    def __init__(self, root: Schema, costs: Costs, names: ValueNames) -> None:
        self._root = root
        self._costs = costs
        self._names = names
        self._parts: ValidatorMap = compile_parts(root)
        self._left: float = MAX_FOUND
        self._looked: set[tuple[str, Place]] = set()

    def faults(self, value: Any) -> Iterator[str]:
        """The faults of ``value``, which is not valid, each found when asked for."""
        return self._apart(self._root, "#", value, ())

    def _of(self, schema: Any, where: str, value: Any, at: Place) -> Iterator[str]:
        part = self._parts.get(where)
        if part is None or (where, at) in self._looked or part.is_valid(value):
            return
        self._looked.add((where, at))
        cost = self._costs.most_faults(schema, value)
        if cost > self._left:
            yield from self._apart(schema, where, value, at)
            return
        self._left -= cost
        for error in part.iter_errors(value):
            yield from faults_of(error, self._names, at)

    def _apart(self, schema: Any, where: str, value: Any, at: Place) -> Iterator[str]:
        """What is wrong with the value itself, then what is wrong inside it."""
        found = False
        if is_object(schema):
            for fault in chain(self._alone(schema, value, at), self._inside(schema, where, value, at)):
                found = True
                yield fault
        if not found:
            subject = subject_of(at, self._names)
            yield f"{subject} must fit the schema, {TOO_LARGE}"

    def _alone(self, schema: Schema, value: Any, at: Place) -> Iterator[str]:
        asked = {keyword: schema[keyword] for keyword in _ALONE if keyword in schema}
        if schema.get("additionalProperties") is False:
            asked["additionalProperties"] = False
            asked["properties"] = dict.fromkeys(members(schema, "properties"), True)
            asked["patternProperties"] = dict.fromkeys(members(schema, "patternProperties"), True)
        validator = compile_schema(asked)
        if not validator.is_valid(value):
            for error in validator.iter_errors(value):
                yield from faults_of(error, self._names, at)
        if isinstance(value, dict):
            missing = (name for name in listed(schema, "required") if name not in value)
            yield from (f"missing '{dotted([*at, name])}'" for name in missing)

    def _inside(self, schema: Schema, where: str, value: Any, at: Place) -> Iterator[str]:
        if target := resolved(self._root, schema.get("$ref")):
            yield from self._of(target[1], target[0], value, at)
        for index, part in enumerate(listed(schema, "allOf")):
            yield from self._of(part, where + pointer("allOf", index), value, at)
        if isinstance(value, dict):
            yield from self._in_object(schema, where, cast("dict[str, Any]", value), at)
        elif isinstance(value, list):
            yield from self._in_array(schema, where, cast("Any", value), at)

    def _in_object(self, schema: Schema, where: str, value: dict[str, Any], at: Place) -> Iterator[str]:
        known = members(schema, "properties")
        rest = schema.get("additionalProperties")
        has_rest = is_object(rest) and not members(schema, "patternProperties")
        for name, item in value.items():
            if name in known:
                yield from self._of(known[name], where + pointer("properties", name), item, (*at, name))
            elif has_rest:
                yield from self._of(rest, where + pointer("additionalProperties"), item, (*at, name))

    def _in_array(self, schema: Schema, where: str, value: list[Any], at: Place) -> Iterator[str]:
        first = listed(schema, "prefixItems")
        for index, item in enumerate(value):
            if index < len(first):
                place = where + pointer("prefixItems", index)
                yield from self._of(first[index], place, item, (*at, index))
            elif is_object(schema.get("items")):
                yield from self._of(schema["items"], where + pointer("items"), item, (*at, index))
