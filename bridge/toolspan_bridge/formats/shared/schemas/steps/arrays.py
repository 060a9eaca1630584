"""Arrays and objects spelled out as far as providers want them."""

from __future__ import annotations

from ...json_values import as_list, as_object
from .._walk import (
    Note,
    Schema,
    Step,
    everywhere,
    types,
    using,
)


def _items(node: Schema, pointer: str, note: Note) -> Schema:
    if _lacks_items(node):
        node["items"] = {}
    return node


def _lacks_items(node: Schema) -> bool:
    return "items" not in node and "array" in types(node)


def _properties(node: Schema, pointer: str, note: Note) -> Schema:
    if _lacks_properties(node):
        node["properties"] = {}
    return node


def _lacks_properties(node: Schema) -> bool:
    return "properties" not in node and "object" in types(node)


def _tuple(node: Schema, pointer: str, note: Note) -> Schema:
    places = as_list(node.get("prefixItems"))
    if places is None:
        return node
    del node["prefixItems"]
    rest = as_object(node.get("items"))
    kinds = [*places, rest] if rest is not None else places
    distinct = [kind for place, kind in enumerate(kinds) if kind not in kinds[:place]]
    node["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    order = ", ".join(_name(as_object(place) or {}) for place in places)
    sentence = f"Items in this order: {order}."
    node["description"] = " ".join(filter(None, (node.get("description"), sentence)))
    note(f"{pointer}/prefixItems", "tuple", f"items of any of these kinds, described: {sentence}")
    return node


def _name(place: Schema) -> str:
    return str(place.get("title") or place.get("description") or "/".join(types(place)) or "any")


array_items: Step = everywhere(_items, where=_lacks_items)
"""Every array has ``items``."""

object_properties: Step = everywhere(_properties, where=_lacks_properties)
"""Every object has ``properties``."""

tuples_as_lists: Step = everywhere(_tuple, where=using("prefixItems"))
"""Tuples become lists of any of their items' kinds, their order described."""
