"""A schema of arguments without those that are hidden from the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ...common.did_you_mean import nearest

if TYPE_CHECKING:
    from ._mcp_config import ToolOverride

_BRANCHES = ("allOf", "anyOf", "oneOf")
_DEPTH = 8
_SAYS_NOTHING = frozenset({"$schema", "type", "title", "description"})
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(slots=True)
class Reshaped:
    """The schema to offer, and the arguments that every call has.

    ``fault`` says why the tool cannot be called with them.
    """

    schema: dict[str, Any]
    pin: dict[str, Any] = field(default_factory=dict[str, Any])
    warnings: list[str] = field(default_factory=list[str])
    fault: str = ""


def reshaped(schema: Mapping[str, Any], change: ToolOverride | None) -> Reshaped:
    """``schema``, an upstream's, after ``change``.

    A ``$schema`` of another dialect is removed: all are read as 2020-12. A schema that names no argument
    accepts any, and says so explicitly: otherwise no argument would be passed on.
    """
    plain = {key: value for key, value in schema.items() if key != "$schema" or value == _DIALECT}
    if plain.keys() <= _SAYS_NOTHING:
        plain["additionalProperties"] = True
    if change is None:
        return Reshaped(plain)
    properties = _object(plain.get("properties"))
    found = Reshaped(plain, dict(change.pin))
    found.warnings += _unknown("pin", change.pin, properties)
    found.warnings += _unknown("hide", change.hide, properties)
    found.warnings += _unknown("parameters", change.parameters, properties)
    required = _names(plain.get("required"))
    for name in change.hide:
        part = _object(properties.get(name))
        if "default" in part and (name in required or change.send_defaults):
            found.pin[name] = part["default"]
        elif name in required:
            found.fault = f"its argument {name!r} is hidden, but required and without default (pin it)"
    found.schema = _without(plain, {*change.pin, *change.hide}, _DEPTH)
    if change.parameters:
        kept = _object(found.schema.get("properties"))
        described = {
            name: {**_object(kept[name]), **more} for name, more in change.parameters.items() if name in kept
        }
        found.schema["properties"] = {**kept, **described}
    return found


def _without(schema: Mapping[str, Any], names: set[str], depth: int) -> dict[str, Any]:
    """``schema`` without the properties ``names``, also in the branches that apply to the same object."""
    kept = dict(schema)
    if not names or depth == 0:
        return kept
    if isinstance(schema.get("properties"), dict):
        properties = _object(schema["properties"])
        kept["properties"] = {name: part for name, part in properties.items() if name not in names}
    if isinstance(schema.get("required"), list):
        kept["required"] = [name for name in schema["required"] if name not in names]
        if not kept["required"]:
            del kept["required"]
    if isinstance(schema.get("dependentRequired"), dict):
        dependent = _object(schema["dependentRequired"])
        kept["dependentRequired"] = {
            name: [each for each in _names(needed) if each not in names]
            for name, needed in dependent.items()
            if name not in names
        }
    for branch in _BRANCHES:
        if isinstance(schema.get(branch), list):
            parts = cast("list[Any]", schema[branch])
            kept[branch] = [
                _without(cast("Any", part), names, depth - 1) if isinstance(part, dict) else part
                for part in parts
            ]
    return kept


def _unknown(key: str, names: Iterable[str], properties: Mapping[str, Any]) -> list[str]:
    unknown = [name for name in names if name not in properties]
    return [f"{key}.{name}: it has no such argument ({nearest(name, list(properties))})" for name in unknown]


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _names(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()
