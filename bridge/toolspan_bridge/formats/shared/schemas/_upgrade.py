"""Upgrades older drafts, and near misses that providers answer with a 400, to 2020-12.

Nothing here changes which arguments are valid, so nothing is reported.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from ..json_values import as_list, as_object
from ._walk import (
    Change,
    Note,
    Schema,
    Step,
    children,
    everywhere,
    subschemas,
    tokens,
)

_MAY_BE_NULL = frozenset({"const", "default", "example"})
_NOT_FOR_MODELS = frozenset({"$anchor", "$comment", "$dynamicAnchor", "$id", "$schema", "$vocabulary", "id"})
_NUMBERS = frozenset(
    {
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
    }
)


def _visit(node: Schema, pointer: str, note: Note) -> Schema:
    node = {key: value for key, value in node.items() if value is not None or key in _MAY_BE_NULL}
    _definitions(node)
    _tuples(node)
    _bounds(node)
    _dependencies(node)
    _required(node)
    _annotations(node)
    return node


def _definitions(node: Schema) -> None:
    old = as_object(node.pop("definitions", None))
    if old:
        node["$defs"] = {**old, **(as_object(node.get("$defs")) or {})}


def _tuples(node: Schema) -> None:
    places = as_list(node.get("items"))
    rest = node.pop("additionalItems", None)
    if places is None:
        return
    del node["items"]
    if places:
        node["prefixItems"] = places
    if rest is not None:
        node["items"] = rest


def _bounds(node: Schema) -> None:
    for keyword in _NUMBERS & node.keys():
        node[keyword] = _number(node[keyword])
    for exclusive, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = node.get(exclusive)
        if isinstance(flag, bool):
            del node[exclusive]
            if flag and plain in node:
                node[exclusive] = node.pop(plain)


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"-?\d{1,15}", value):
        return int(value)
    return float(value) if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", value) else value


def _required(node: Schema) -> None:
    wanted = as_list(node.get("required"))
    if wanted is not None:
        node["required"] = list(dict.fromkeys(map(str, wanted)))
    needs = as_object(node.get("dependentRequired"))
    if needs is not None:
        node["dependentRequired"] = {
            name: list(dict.fromkeys(listed)) if (listed := as_list(value)) is not None else value
            for name, value in needs.items()
        }


def _dependencies(node: Schema) -> None:
    for name, needs in (as_object(node.pop("dependencies", None)) or {}).items():
        keyword = "dependentRequired" if isinstance(needs, list) else "dependentSchemas"
        node[keyword] = {name: needs, **(as_object(node.get(keyword)) or {})}


def _annotations(node: Schema) -> None:
    for keyword in ("description", "title"):
        if not isinstance(node.get(keyword, ""), str):
            del node[keyword]
    for keyword in ("enum", "examples"):
        if node.get(keyword) == []:
            del node[keyword]
    if (values := as_list(node.get("enum"))) is not None:
        node["enum"] = list({f"{type(value)}{value!r}": value for value in values}.values())
    kinds = as_list(node.get("type"))
    if kinds is not None:
        distinct = list(dict.fromkeys(map(str, kinds)))
        node["type"] = distinct[0] if len(distinct) == 1 else distinct


def _required_flags(schema: Schema) -> tuple[Schema, list[Change]]:
    """Draft 3's ``required: true`` on a property becomes an entry in its parent's list."""
    schema = copy.deepcopy(schema)
    if isinstance(schema.get("required"), bool):
        del schema["required"]
    for _, node in subschemas(schema):
        for tail, inner in list(children(node)):
            child = as_object(inner)
            if child is None or not isinstance(child.get("required"), bool):
                continue
            if child.pop("required") and tail.startswith("/properties/"):
                node["required"] = [*(as_list(node.get("required")) or ()), tokens(tail)[1]]
    return schema, []


def _strip(node: Schema, pointer: str, note: Note) -> Schema:
    for keyword in list(node):
        if keyword in _NOT_FOR_MODELS:
            del node[keyword]
        elif keyword.startswith("x-"):
            del node[keyword]
            note(pointer, "extension", f"{keyword!r} left out")
    return node


_forms: Step = everywhere(_visit)


def upgrade(schema: Schema) -> tuple[Schema, list[Change]]:
    """Upgrade any draft to 2020-12."""
    return _forms(_required_flags(schema)[0])


strip: Step = everywhere(_strip)
"""Removes keywords for schema tools only; vendor extensions are reported."""
