"""Which parameters a schema defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from ._compile import compile_schema
from ._schema_access import (
    Schema,
    is_object,
    listed,
    members,
    resolved,
)

_OPEN = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_IN_PLACE = ("if", "then", "else", "not")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_ANYTHING: Schema = {"additionalProperties": True}


@dataclass
class DefinedNames:
    """The names that a schema defines at its root; ``anything`` when it rules over every name."""

    names: set[str] = field(default_factory=set[str])
    patterns: list[str] = field(default_factory=list[str])
    anything: bool = False

    def keeper(self) -> Callable[[str], bool] | None:
        """A function that returns whether a name is kept; ``None`` when every name is."""
        if self.anything:
            return None
        if not self.patterns:
            return self.names.__contains__
        matching = [compile_schema({"pattern": pattern}) for pattern in self.patterns]
        return lambda name: name in self.names or any(one.is_valid(name) for one in matching)


def defined_by(root: Schema) -> DefinedNames:
    """What ``root`` defines: by itself and by each schema that it applies to the same object."""
    defined = DefinedNames()
    for schema in _in_place(root, root, []):
        if any(keyword in schema for keyword in _OPEN):
            defined.anything = True
        defined.names.update(_named(schema))
        defined.patterns.extend(members(schema, "patternProperties"))
    return defined


def _named(schema: Schema) -> Iterator[str]:
    yield from members(schema, "properties")
    yield from listed(schema, "required")
    yield from members(schema, "dependentSchemas")
    for name, others in members(schema, "dependentRequired").items():
        yield from (name, *cast("list[str]", others))


def _in_place(root: Schema, schema: Any, seen: list[Schema]) -> Iterator[Schema]:
    if not is_object(schema) or any(schema is one for one in seen):
        return
    seen.append(schema)
    yield schema
    followers = [schema.get(keyword) for keyword in _IN_PLACE]
    followers += [part for keyword in _IN_PLACE_LISTS for part in listed(schema, keyword)]
    followers += members(schema, "dependentSchemas").values()
    for reference in ("$ref", "$dynamicRef"):
        if reference in schema:
            target = resolved(root, schema[reference])
            followers.append(target[1] if target else _ANYTHING)
    for follower in followers:
        yield from _in_place(root, follower, seen)
