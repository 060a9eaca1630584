"""Steps that only strict modes need: closed objects, optional properties as nullable ones, split types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...json_values import as_list, as_object
from .._walk import (
    Change,
    Note,
    Schema,
    Step,
    escape,
    everywhere,
    subschemas,
    types,
)

ANNOTATIONS = frozenset({"description", "title"})

UNSAYABLE = frozenset({"patternProperties", "propertyNames"})
"""Keywords whose loss no strict mode makes up for: a schema that has them is not sent strict."""

_OF_ARRAYS = frozenset({"items", "maxItems", "minItems", "prefixItems"})
_OF_OBJECTS = frozenset({"additionalProperties", "properties", "required"})


def _open_objects(schema: Schema) -> Iterator[Change]:
    """Every object that takes properties which it does not name, in a schema after ``closed_objects``."""
    for pointer, node in subschemas(schema):
        if "object" in types(node) and node.get("additionalProperties") is not False:
            yield Change(pointer, "", "the object takes properties that it does not name")


def _untyped(schema: Schema) -> Iterator[Change]:
    """Every subschema that does not say which type it is of."""
    for pointer, node in subschemas(schema):
        if not node.keys() & {"$ref", "anyOf", "allOf", "const", "enum", "type"}:
            yield Change(pointer, "", "the schema has no type")


def _unknown_required(schema: Schema) -> Iterator[Change]:
    """Every required property that is not described."""
    for pointer, node in subschemas(schema):
        named = as_object(node.get("properties")) or {}
        for name in as_list(node.get("required")) or []:
            if name not in named:
                yield Change(pointer, "", f"{name!r} is required and not described")


def _left_keywords(schema: Schema, keywords: frozenset[str]) -> Iterator[Change]:
    """Every use of ``keywords``, which strict mode has no words for."""
    for pointer, node in subschemas(schema):
        for keyword in sorted(keywords & node.keys()):
            yield Change(f"{pointer}/{escape(keyword)}", "", f"{keyword} cannot be expressed")


def strict_faults(schema: Schema) -> Iterator[Change]:
    """What no strict mode takes of ``schema``, whatever the provider."""
    yield from _left_keywords(schema, UNSAYABLE)
    yield from _open_objects(schema)
    yield from _untyped(schema)
    yield from _unknown_required(schema)


def _close(node: Schema, pointer: str, note: Note) -> Schema:
    closed = node.get("additionalProperties") is False or node.get("unevaluatedProperties") is False
    free = not pointer or bool(node.get("properties"))
    if closed:
        node.pop("unevaluatedProperties", None)
    if "object" in types(node) and (closed or ("additionalProperties" not in node and free)):
        node["additionalProperties"] = False
        node.setdefault("properties", {})
        if not closed:
            note(pointer, "closed-object", "sent without further properties than those named")
    return node


def _require(node: Schema, pointer: str, note: Note) -> Schema:
    named = as_object(node.get("properties"))
    if named is None:
        return node
    required = as_list(node.get("required")) or []
    for name in [name for name in named if name not in required]:
        named[name] = _nullable(as_object(named[name]) or {})
        repair = "sent as required, null where it is left out; that null is taken out of the arguments"
        note(f"{pointer}/properties/{escape(name)}", "optional-null", repair)
    node["required"] = [*named, *(name for name in required if name not in named)]
    return node


def _nullable(node: Schema) -> Schema:
    """``node`` or null; one without a type is unchanged."""
    kinds = types(node)
    branches = as_list(node.get("anyOf"))
    if {"type": "null"} in (branches or []):
        return node
    if kinds and not {"object", "array"} & set(kinds) and branches is None:
        values = as_list(node.get("enum"))
        more = {} if values is None or None in values else {"enum": [*values, None]}
        return {**node, "type": [*kinds, *(["null"] if "null" not in kinds else [])], **more}
    if not kinds and branches is None and "$ref" not in node:
        return node
    outside = {key: node[key] for key in sorted(ANNOTATIONS & node.keys())}
    inside = {key: value for key, value in node.items() if key not in outside}
    if inside.keys() == {"anyOf"} and branches is not None:
        return {**outside, "anyOf": [*branches, {"type": "null"}]}
    return {**outside, "anyOf": [inside, {"type": "null"}]}


def _split(node: Schema, pointer: str, note: Note) -> Schema:
    kinds = types(node)
    if len(kinds) < 2 or "anyOf" in node:
        return node
    outside = {key: node[key] for key in sorted(ANNOTATIONS & node.keys())}
    inside = {key: value for key, value in node.items() if key not in {*outside, "type"}}
    branches = [branch for kind in kinds if (branch := _branch(kind, inside)) is not None]
    return {**outside, "anyOf": branches} if len(branches) > 1 else {**outside, **(branches or [node])[0]}


def _branch(kind: str, keywords: Schema) -> Schema | None:
    """What ``keywords`` say of values of type ``kind``; ``None`` when no value of an enum is of it."""
    foreign: set[str] = set()
    foreign |= _OF_ARRAYS if kind != "array" else set()
    foreign |= _OF_OBJECTS if kind != "object" else set()
    kept = {key: value for key, value in keywords.items() if key not in foreign}
    values = as_list(kept.get("enum"))
    if values is None:
        return {"type": kind, **kept}
    fitting = [value for value in values if _is(value, kind)]
    return {"type": kind, **kept, "enum": fitting} if fitting else None


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    python: dict[str, type | tuple[type, ...]] = {
        "array": list,
        "integer": int,
        "null": type(None),
        "number": (int, float),
        "object": dict,
        "string": str,
    }
    return kind in python and isinstance(value, python[kind])


def _plain_union(node: Schema, pointer: str, note: Note) -> Schema:
    branches = [as_object(branch) or {} for branch in as_list(node.get("anyOf")) or []]
    if node.get("properties") or node.keys() & {"additionalProperties", "required"} or not branches:
        return node
    if types(node) == ["object"] and all(types(branch) == ["object"] for branch in branches):
        return {key: value for key, value in node.items() if key not in ("properties", "type")}
    return node


plain_unions: Step = everywhere(_plain_union)
"""An ``anyOf`` of objects needs no ``type: object`` beside it."""

closed_objects: Step = everywhere(_close)
"""Objects with named properties take no others; those that say they do, or name none, stay open."""

optional_as_null: Step = everywhere(_require)
"""Every property is required, null standing for an optional one that is left out."""

split_types: Step = everywhere(_split)
"""Several types become an ``anyOf`` of one each."""
