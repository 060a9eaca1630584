"""Normalises valid arguments: fills in defaults, and makes ``2.0`` an ``int`` where the schema wants one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from ._compile import compile_parts, compile_schema
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

_MAX_REFERENCES = 10

Finish = Callable[[Any], Any]


def finisher(schema: Schema, *, fill_defaults: bool = True) -> Finish | None:
    """What finishes arguments that are valid by ``schema``, in place; ``None`` when nothing is to do.

    Without ``fill_defaults`` nothing is added to them.
    """
    text = json.dumps(schema)
    if not (fill_defaults and '"default"' in text) and '"integer"' not in text:
        return None
    return _Finisher(schema, fill_defaults=fill_defaults).at(schema, "#")


class _Finisher:
    """Builds the finishing functions of one document, one for each part, also of recursive schemas."""

    def __init__(self, root: Schema, *, fill_defaults: bool) -> None:
        self._root = root
        self._fill_defaults = fill_defaults
        self._built: dict[str, Finish] = {}
        self._parts: ValidatorMap | None = None

    def at(self, schema: Any, where: str) -> Finish:
        if where not in self._built:
            self._built[where] = self._later(where)
            if is_object(schema):
                self._built[where] = _all(self._steps(schema, where))
        return self._built[where]

    def _later(self, where: str) -> Finish:
        """Stands for a part inside itself, and for one that is no object."""

        def finish(value: Any) -> Any:
            built = self._built[where]
            return value if built is finish else built(value)

        return finish

    def _steps(self, schema: Schema, where: str) -> list[Finish]:
        steps: list[Finish] = []
        if _is_integer(schema.get("type")):
            steps.append(_whole)
        for reference in ("$ref", "$dynamicRef"):
            if target := resolved(self._root, schema.get(reference)):
                steps.append(self.at(target[1], target[0]))
        steps += [
            self.at(part, where + pointer("allOf", i)) for i, part in enumerate(listed(schema, "allOf"))
        ]
        steps += [
            self._first_valid(schema, keyword, where) for keyword in ("anyOf", "oneOf") if keyword in schema
        ]
        if "if" in schema:
            steps.append(self._conditional(schema, where))
        if members(schema, "properties"):
            steps.append(self._properties(members(schema, "properties"), where + pointer("properties")))
        if "patternProperties" in schema or is_object(schema.get("additionalProperties")):
            steps.append(self._other_properties(schema, where))
        if "items" in schema or "prefixItems" in schema:
            steps.append(self._items(schema, where))
        return steps

    def _properties(self, properties: Schema, where: str) -> Finish:
        finishing = {name: self.at(part, where + pointer(name)) for name, part in properties.items()}
        defaults = {
            name: part["default"] for name in properties if (part := self._with_default(properties[name]))
        }

        def finish(value: Any) -> Any:
            if isinstance(value, dict):
                for name, finish_one in finishing.items():
                    if name in value:
                        value[name] = finish_one(value[name])
                    elif name in defaults:
                        value[name] = finish_one(copy.deepcopy(defaults[name]))
            return cast("Any", value)

        return finish

    def _with_default(self, schema: Any) -> Schema | None:
        """``schema``, or what it refers to, whichever first gives a default that is filled in."""
        if not self._fill_defaults:
            return None
        for _ in range(_MAX_REFERENCES):
            if not is_object(schema) or "default" in schema:
                break
            target = resolved(self._root, schema.get("$ref"))
            schema = target[1] if target else None
        return schema if is_object(schema) and "default" in schema else None

    def _other_properties(self, schema: Schema, where: str) -> Finish:
        known = members(schema, "properties")
        patterns = [
            (
                compile_schema({"pattern": pattern}),
                self.at(part, where + pointer("patternProperties", pattern)),
            )
            for pattern, part in members(schema, "patternProperties").items()
        ]
        rest = self.at(schema.get("additionalProperties"), where + pointer("additionalProperties"))

        def finish(value: Any) -> Any:
            if isinstance(value, dict):
                for name, item in cast("dict[str, Any]", value).items():
                    fitting = [one for pattern, one in patterns if pattern.is_valid(name)]
                    value[name] = _all(fitting or ([] if name in known else [rest]))(item)
            return cast("Any", value)

        return finish

    def _items(self, schema: Schema, where: str) -> Finish:
        first = [
            self.at(part, where + pointer("prefixItems", i))
            for i, part in enumerate(listed(schema, "prefixItems"))
        ]
        other = self.at(schema.get("items"), where + pointer("items"))

        def finish(value: Any) -> Any:
            if not isinstance(value, list):
                return value
            items: list[Any] = cast("Any", value)
            for index, item in enumerate(items):
                items[index] = first[index](item) if index < len(first) else other(item)
            return items

        return finish

    def _first_valid(self, schema: Schema, keyword: str, where: str) -> Finish:
        places = [where + pointer(keyword, i) for i in range(len(listed(schema, keyword)))]
        branches = [
            (place, self.at(part, place)) for place, part in zip(places, schema[keyword], strict=True)
        ]

        def finish(value: Any) -> Any:
            for place, finish_one in branches:
                if self._fits(place, value):
                    return finish_one(value)
            return value

        return finish

    def _conditional(self, schema: Schema, where: str) -> Finish:
        then, otherwise = (
            self.at(schema.get(keyword), where + pointer(keyword)) for keyword in ("then", "else")
        )
        condition = where + pointer("if")
        return lambda value: (then if self._fits(condition, value) else otherwise)(value)

    def _fits(self, place: str, value: Any) -> bool:
        if self._parts is None:
            self._parts = compile_parts(self._root)
        part = self._parts.get(place)
        return part is not None and part.is_valid(value)


def _is_integer(kind: Any) -> bool:
    return kind == "integer" or (isinstance(kind, list) and "integer" in kind and "number" not in kind)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _nothing(value: Any) -> Any:
    return value


def _all(steps: list[Finish]) -> Finish:
    if len(steps) <= 1:
        return steps[0] if steps else _nothing

    def finish(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return finish
