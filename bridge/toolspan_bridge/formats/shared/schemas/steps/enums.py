"""``enum``, ``const``, ``oneOf`` and exclusive bounds in words that fewer providers know."""

from __future__ import annotations

from typing import Any

from ...json_values import as_list, as_object, compact
from .._walk import (
    Note,
    Schema,
    Step,
    everywhere,
    types,
    using,
)

_WHOLE_DOUBLES = 2**53
_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (dict, "object"),
    (list, "array"),
    (type(None), "null"),
)


def _const(node: Schema, pointer: str, note: Note) -> Schema:
    if "const" in node:
        node["enum"] = [node.pop("const")]
    values = as_list(node.get("enum"))
    if values and "type" not in node:
        kinds = list(dict.fromkeys(map(_kind, values)))
        node["type"] = kinds[0] if len(kinds) == 1 else kinds
    return node


def _is_untyped(node: Schema) -> bool:
    return "const" in node or ("enum" in node and "type" not in node)


def _plain_enum(node: Schema, pointer: str, note: Note) -> Schema:
    values = as_list(node.get("enum"))
    if values is None or not _has_other_values(node):
        return node
    if "null" in types(node) and all(_is_plain(value) for value in values if value is not None):
        rest = {key: node.pop(key) for key in ("enum", "type")}
        kinds = [kind for kind in types(rest) if kind != "null"]
        plain = {"enum": [value for value in values if value is not None]}
        branches: list[Schema] = [{"type": kinds[0] if len(kinds) == 1 else kinds, **plain}] if kinds else []
        if branches and plain["enum"] and "anyOf" not in node:
            return {**node, "anyOf": [*branches, {"type": "null"}]}
        node |= rest
    del node["enum"]
    sentence = f"One of: {compact(values)[:300]}."
    node["description"] = " ".join(filter(None, (node.get("description"), sentence)))
    note(f"{pointer}/enum", "enum-values", f"described: {sentence}")
    return node


def _spelled_enum(node: Schema, pointer: str, note: Note) -> Schema:
    values = as_list(node.get("enum"))
    if not values or "" not in values:
        return node
    spelled = [value for value in values if value != ""]
    sentence = "It may be empty." if spelled else "It is always empty."
    rest = {key: value for key, value in node.items() if key != "enum"}
    rest["description"] = " ".join(filter(None, (node.get("description"), sentence)))
    note(f"{pointer}/enum", "enum-values", f"the empty value is described: {sentence}")
    return {**rest, "enum": spelled} if spelled else rest


def _known_required(node: Schema, pointer: str, note: Note) -> Schema:
    known, required = as_object(node.get("properties")), as_list(node.get("required")) or []
    unknown = [name for name in required if known is not None and name not in known]
    if not unknown:
        return node
    named = ", ".join(map(repr, unknown))
    note(f"{pointer}/required", "required-unknown", f"{named} not sent as required: no such property")
    kept = [name for name in required if name not in unknown]
    rest = {key: value for key, value in node.items() if key != "required"}
    return {**rest, "required": kept} if kept else rest


def _has_other_values(node: Schema) -> bool:
    return not all(map(_is_plain, as_list(node.get("enum")) or ()))


def _primitive(node: Schema, pointer: str, note: Note) -> Schema:
    for keyword in ("const", "enum"):
        values = as_list(node.get(keyword)) if keyword == "enum" else [node.get(keyword)]
        if keyword in node and any(isinstance(value, dict | list) for value in values or []):
            sentence = f"One of: {compact(values)[:300]}."
            del node[keyword]
            node["description"] = " ".join(filter(None, (node.get("description"), sentence)))
            note(f"{pointer}/{keyword}", "enum-values", f"described: {sentence}")
    return node


def _one_of(node: Schema, pointer: str, note: Note) -> Schema:
    branches = node.pop("oneOf", None)
    if branches is None:
        return node
    note(f"{pointer}/oneOf", "one-of", "sent as anyOf: the rule that exactly one may match is lost")
    if "anyOf" in node:
        node["allOf"] = [*(as_list(node.get("allOf")) or ()), {"anyOf": branches}]
    else:
        node["anyOf"] = branches
    return node


def _exclusive(node: Schema, pointer: str, note: Note) -> Schema:
    for exclusive, plain, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        bound = node.get(exclusive)
        whole = isinstance(bound, int) or (isinstance(bound, float) and bound.is_integer())
        if types(node) != ["integer"] or not whole:
            continue
        closed = int(node.pop(exclusive)) + step
        pick = max if step > 0 else min
        node[plain] = pick(closed, node.get(plain, closed))
    return node


def _wide(node: Schema, pointer: str, note: Note) -> Schema:
    if _is_wide(node):
        note(pointer, "wide-integer", "sent as it is: integers beyond 2^53 come back rounded")
    return node


def _is_wide(node: Schema) -> bool:
    bounds = [node.get(keyword) for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")]
    wide = any(isinstance(bound, int | float) and abs(bound) > _WHOLE_DOUBLES for bound in bounds)
    return "integer" in types(node) and (wide or node.get("format") in ("int64", "uint64"))


def _kind(value: Any) -> str:
    return next(name for kind, name in _KINDS if isinstance(value, kind))


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


const_to_enum: Step = everywhere(_const, where=_is_untyped)
"""``const`` as an ``enum`` of one; an ``enum`` has a ``type``."""

plain_enums: Step = everywhere(_plain_enum, where=_has_other_values)
"""``enum`` of strings and numbers only; other values are described."""

primitive_enums: Step = everywhere(_primitive, where=using("const", "enum"))
"""``enum`` and ``const`` of strings, numbers, booleans and null only; other values are described."""

one_of_to_any_of: Step = everywhere(_one_of, where=using("oneOf"))
"""``anyOf`` in place of ``oneOf``."""

spelled_enums: Step = everywhere(_spelled_enum, where=using("enum"))
"""``enum`` without the empty text, which is described."""

known_required: Step = everywhere(_known_required, where=using("required"))
"""``required`` names properties of the same schema alone."""

closed_bounds: Step = everywhere(_exclusive, where=using("exclusiveMaximum", "exclusiveMinimum"))
"""Exclusive bounds of integers as inclusive ones."""

wide_integers: Step = everywhere(_wide, where=_is_wide)
"""Integers that may be too wide for doubles are reported."""
