"""The root of a schema: providers want a plain object there."""

from __future__ import annotations

from typing import Any

from ..json_values import as_object
from ._refs import resolve
from ._walk import (
    Change,
    Schema,
    everywhere,
    types,
)
from ._walk import Note as _Note
from .steps.merge import merge

WRAPPER = "input"
"""The one property of a wrapped root."""

_COMBINATORS = ("allOf", "anyOf", "const", "enum", "if", "not", "oneOf")


def plain_root(schema: Schema) -> tuple[Schema, list[Change]]:
    """With a reference at the root followed, and ``type: object`` and ``properties`` there."""
    changes: list[Change] = []

    def report(pointer: str, what: str) -> None:
        changes.append(Change(pointer, "root-ref", f"the referring schema's word stands, not: {what}"))

    seen: set[str] = set()
    while isinstance(ref := schema.get("$ref"), str):
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = rest if ref in seen or ref == "#" else merge(rest, resolve(schema, ref), report)
        seen.add(ref)
    kinds = types(schema)
    if kinds and "object" not in kinds:
        repair = f"sent as an object: arguments always are one, and this schema wants {' or '.join(kinds)}"
        changes.append(Change("/type", "root-type", repair))
    schema = {"type": "object", **schema, "properties": schema.get("properties", {})}
    return {**schema, "type": "object"}, changes


def is_wrapped(schema: Schema) -> bool:
    """Whether ``wrap`` puts this schema into a property."""
    return any(keyword in schema for keyword in _COMBINATORS)


def wrap(schema: Schema) -> tuple[Schema, list[Change]]:
    """A root with combinators becomes the property ``input`` of a plain object."""
    if not is_wrapped(schema):
        return schema, []
    inner, _ = everywhere(_into_wrapper)({key: value for key, value in schema.items() if key != "$defs"})
    wrapped: dict[str, Any] = {"type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER]}
    if (definitions := as_object(schema.get("$defs"))) is not None:
        wrapped["$defs"] = everywhere(_into_wrapper)({"$defs": definitions})[0]["$defs"]
    keywords = ", ".join(keyword for keyword in _COMBINATORS if keyword in schema)
    repair = f"{keywords} at the root: the arguments are sent in a property {WRAPPER!r} and taken out again"
    return wrapped, [Change("", "wrap-root", repair)]


def _into_wrapper(node: Schema, pointer: str, note: _Note) -> Schema:
    if node.get("$ref") == "#":
        node["$ref"] = f"#/properties/{WRAPPER}"
    return node
