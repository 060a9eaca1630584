"""``true`` and ``false`` as subschemas, for providers that want an object there."""

from __future__ import annotations

from typing import Any

from ...json_values import as_list, as_object, is_object
from .._walk import (
    LISTS,
    MAPS,
    SINGLES,
    Note,
    Schema,
    Step,
    escape,
    everywhere,
)

_MAY_STAY = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
_INSIDE = (LISTS | SINGLES) - _MAY_STAY
_BOOLEANS = frozenset({bool})


def _visit(node: Schema, pointer: str, note: Note) -> Schema:
    _properties(node, pointer, note)
    for keyword in ("$defs", "dependentSchemas", "patternProperties"):
        named = as_object(node.get(keyword))
        if named is not None:
            node[keyword] = {name: _as_object(inner) for name, inner in named.items()}
    for keyword in sorted(_INSIDE & node.keys()):
        listed = as_list(node[keyword])
        if listed is not None:
            _listed(node, keyword, listed, pointer, note)
        elif keyword == "items" and node[keyword] is False:
            del node[keyword]
            note(f"{pointer}/{keyword}", "boolean-schema", "left out: there is no schema that allows nothing")
        else:
            node[keyword] = _as_object(node[keyword])
    return node


def _properties(node: Schema, pointer: str, note: Note) -> None:
    named = as_object(node.get("properties"))
    if named is None:
        return
    node["properties"] = {name: _as_object(inner) for name, inner in named.items() if inner is not False}
    for name in (name for name, inner in named.items() if inner is False):
        note(f"{pointer}/properties/{escape(name)}", "boolean-schema", "left out: no value is allowed")
    if "required" in node:
        node["required"] = [name for name in node["required"] if named.get(name) is not False]


def _listed(node: Schema, keyword: str, listed: list[Any], pointer: str, note: Note) -> None:
    drop = {"anyOf": False, "oneOf": False, "allOf": True}.get(keyword)
    kept = [_as_object(inner) for inner in listed if inner is not drop]
    if kept:
        node[keyword] = kept
        return
    del node[keyword]
    if drop is False:
        note(f"{pointer}/{keyword}", "boolean-schema", "left out: no value is allowed")


def _as_object(schema: Any) -> Any:
    if schema is True:
        return {}
    return {"not": {}} if schema is False else schema


def _may_hold_booleans(node: Schema) -> bool:
    for keyword, value in node.items():
        if keyword in MAPS and (named := as_object(value)) is not None:
            if not _BOOLEANS.isdisjoint(map(type, named.values())):
                return True
        elif keyword in _INSIDE and not (is_object(value) or _is_list_of_objects(value)):
            return True
    return False


def _is_list_of_objects(value: Any) -> bool:
    listed = as_list(value)
    return bool(listed) and all(map(is_object, listed or ()))


object_schemas: Step = everywhere(_visit, where=_may_hold_booleans)
"""Every subschema an object; ``additionalProperties`` and the ``unevaluated`` ones may stay boolean."""
