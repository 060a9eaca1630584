"""Converts the model's arguments back to the tool's own schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..json_values import (
    MAX_NESTING,
    as_list,
    as_object,
    load,
    nesting,
    text,
)
from ._refs import resolve
from ._root import WRAPPER
from ._walk import Schema, types

_EXACT = 2.0**53
_BRANCHES = ("allOf", "anyOf", "oneOf")
_CONDITIONS = ("then", "else")
_MOST_LOOKED_AT = 200_000
"""How many schemas are looked at for the values of one call, which keeps the event loop waiting."""


def unwrap(schema: Schema, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments inside the wrapper property; arguments that came without it stay as they are."""
    if arguments.keys() != {WRAPPER}:
        return arguments
    inner = _inner_object(arguments[WRAPPER])
    if inner is None:
        return arguments
    if _knows(schema, WRAPPER) and not _fits(schema, inner) and _fits(schema, arguments):
        return arguments
    return inner


def restore_values(
    schema: Schema, value: Any, keys: Mapping[str, str], *, without_nulls: bool = False
) -> Any:
    """``value`` with its keys renamed back (``keys``: original to sent), whole floats as integers, and
    objects and arrays that came as strings as they were meant.

    ``without_nulls`` removes each null of an optional property that does not accept null. The value is
    traversed along the original schema, so that only values that the schema names are changed. One for which
    too many schemas would have to be looked at stays as it came.
    """
    back = {sent: original for original, sent in keys.items()}
    try:
        return _Restorer(schema, back, without_nulls).value(value, [schema])
    except _TooMuch:
        return value


class _TooMuch(Exception):
    pass


class _Restorer:
    def __init__(self, root: Schema, back: Mapping[str, str], without_nulls: bool) -> None:
        self.root = root
        self.back = back
        self.without_nulls = without_nulls
        self._left = _MOST_LOOKED_AT
        self._null_at: dict[str, bool] = {}

    def _nodes(self, schemas: list[Schema]) -> Iterator[Schema]:
        for node in _applicable(self.root, schemas):
            self._left -= 1
            if self._left < 0:
                raise _TooMuch
            yield node

    def value(self, value: Any, schemas: list[Schema]) -> Any:
        nodes = list(self._nodes(schemas))
        if isinstance(value, str):
            value = _unstringified(value, self.root, schemas, nodes)
        if (inside := as_object(value)) is not None:
            return self._object(inside, nodes)
        if (listed := as_list(value)) is not None:
            return [self.value(entry, _at_place(nodes, place)) for place, entry in enumerate(listed)]
        if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
            return int(value) if any("integer" in types(node) for node in nodes) else value
        return value

    def _object(self, inside: dict[str, Any], nodes: list[Schema]) -> dict[str, Any]:
        known = {key for node in nodes for key in as_object(node.get("properties")) or {}}
        known |= {key for node in nodes for key in as_list(node.get("required")) or []}
        restored: dict[str, Any] = {}
        for key, inner in inside.items():
            original = self.back.get(key, key)
            name = original if original in known and original not in inside else key
            if inner is None and self.without_nulls and self._stands_for_nothing(nodes, name):
                continue
            restored[name] = self.value(inner, _at_key(nodes, name))
        return restored

    def _stands_for_nothing(self, nodes: list[Schema], key: str) -> bool:
        speaking = [node for node in nodes if key in (as_object(node.get("properties")) or {})]
        return any(key not in (as_list(node.get("required")) or []) for node in speaking) and not any(
            self._takes_null(node["properties"][key]) for node in speaking
        )

    def _takes_null(self, schema: Any) -> bool:
        """Whether null is valid, as far as types and values show."""
        node = as_object(schema)
        if node is None:
            return schema is True
        if (ref := text(node.get("$ref"))) and not self._null_by(ref):
            return False
        branches = {keyword: as_list(node[keyword]) or [] for keyword in _BRANCHES if keyword in node}
        return (
            (not types(node) or "null" in types(node))
            and None in (as_list(node.get("enum")) or [None])
            and node.get("const") is None
            and all(self._takes_null(inner) for inner in branches.pop("allOf", []))
            and all(any(self._takes_null(inner) for inner in listed) for listed in branches.values())
        )

    def _null_by(self, ref: str) -> bool:
        """Whether what ``ref`` leads to takes null; one that leads back to itself says nothing against it."""
        if ref not in self._null_at:
            self._null_at[ref] = True
            self._null_at[ref] = self._takes_null(resolve(self.root, ref))
        return self._null_at[ref]


def _applicable(root: Schema, schemas: list[Schema]) -> Iterator[Schema]:
    """Every schema that may apply to the same value: through references, branches and conditions."""
    seen: set[int] = set()
    waiting: list[Any] = list(schemas)
    while waiting:
        node = as_object(waiting.pop())
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node.get("$ref"), str):
            waiting.append(resolve(root, node["$ref"]))
        for keyword in _BRANCHES:
            waiting.extend(as_list(node.get(keyword)) or [])
        waiting.extend(node[keyword] for keyword in _CONDITIONS if keyword in node)
        waiting.extend((as_object(node.get("dependentSchemas")) or {}).values())


def _unstringified(value: str, root: Schema, schemas: list[Schema], nodes: list[Schema]) -> Any:
    """The object or array that some models write as a string, where the schema has no place for a string."""
    wanted = {kind for node in nodes for kind in types(node)} & {"object", "array"}
    if not wanted or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        inside = load(value)
    except ValueError:
        return value
    kind = "array" if as_list(inside) is not None else "object"
    if kind not in wanted or nesting(inside) > MAX_NESTING:
        return value
    shared = {"$defs": root["$defs"]} if "$defs" in root else {}
    return value if any(_may_be({**shared, **schema}, value) for schema in schemas) else inside


def _at_key(nodes: list[Schema], key: str) -> list[Schema]:
    inner: list[Schema] = []
    for node in nodes:
        properties = as_object(node.get("properties")) or {}
        if key in properties:
            candidates = [properties[key]]
        else:
            patterns = as_object(node.get("patternProperties")) or {}
            candidates = [*patterns.values(), node.get("additionalProperties")]
        inner.extend(found for entry in candidates if (found := as_object(entry)) is not None)
    return inner


def _at_place(nodes: list[Schema], place: int) -> list[Schema]:
    inner: list[Schema] = []
    for node in nodes:
        places = as_list(node.get("prefixItems")) or []
        entry = places[place] if place < len(places) else node.get("items")
        if (found := as_object(entry)) is not None:
            inner.append(found)
    return inner


def _inner_object(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        try:
            value = load(value)
        except ValueError:
            return None
    return as_object(value)


def _knows(schema: Schema, key: str) -> bool:
    nodes = _applicable(schema, [schema])
    return any(key in (as_object(node.get("properties")) or {}) for node in nodes)


def _fits(schema: Schema, arguments: dict[str, Any]) -> bool:
    return _is_valid(schema, arguments) is True


def _may_be(schema: Schema, value: Any) -> bool:
    """Whether ``schema`` takes ``value``, or cannot be asked."""
    return _is_valid(schema, value) is not False


def _is_valid(schema: Schema, value: Any) -> bool | None:
    """``None`` where no validator can say it in bounded time."""
    import jsonschema_rs

    from toolspan_server.engines.parameters import Costs, compile_schema

    try:
        validator = compile_schema(schema)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        return None
    return None if Costs(schema).too_many(value) else validator.is_valid(value)
