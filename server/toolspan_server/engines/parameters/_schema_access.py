"""Reading a schema as data, whatever shape it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard, cast
from urllib.parse import unquote

Schema = Mapping[str, Any]


def is_object(value: Any) -> TypeGuard[Schema]:
    """Whether ``value`` is an object."""
    return isinstance(value, Mapping)


def members(schema: Schema, keyword: str) -> Schema:
    """The object under ``keyword``; empty when there is none."""
    value = schema.get(keyword)
    return value if is_object(value) else {}


def listed(schema: Schema, keyword: str) -> list[Any]:
    """The array under ``keyword``; empty when there is none."""
    value = schema.get(keyword)
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else []


def resolved(root: Schema, reference: Any) -> tuple[str, Any] | None:
    """Where in the document ``#/$defs/address``, ``#anchor`` or ``#`` leads, and what is there."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target = unquote(reference[1:])
    if target and not target.startswith("/"):
        return _anchored(root, "#", target)
    found: Any = root
    for part in target.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        inside = _inside(found)
        if key not in inside:
            return None
        found = inside[key]
    return "#" + target, found


def pointer(*parts: str | int) -> str:
    """The end of a JSON pointer for ``parts``: ``/properties/a~1b``."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _inside(value: Any) -> Schema:
    if is_object(value):
        return value
    items: list[Any] = cast("Any", value) if isinstance(value, list) else []
    return {str(index): item for index, item in enumerate(items)}


def _anchored(value: Any, where: str, anchor: str) -> tuple[str, Any] | None:
    if is_object(value) and anchor in (value.get("$anchor"), value.get("$dynamicAnchor")):
        return where, value
    for key, item in _inside(value).items():
        if found := _anchored(item, where + pointer(key), anchor):
            return found
    return None
