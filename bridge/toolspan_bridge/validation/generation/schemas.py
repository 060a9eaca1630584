"""The JSON Schema of a tool's arguments, read for what a value must be like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from toolspan_server.engines.parameters import Check

from ...providers.wire.json_types import is_list, is_object
from .problems import NotGenerated

_MOST_REFERENCES = 16
_ALTERNATIVES = ("anyOf", "oneOf")


def required_of(schema: Mapping[str, Any]) -> list[str]:
    """The names of the arguments that must be given, in the order of the schema's list."""
    required: Any = schema.get("required")
    return list(dict.fromkeys(map(str, required))) if is_list(required) else []


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schemas of the arguments by name."""
    found: Any = schema.get("properties")
    return found if is_object(found) else {}


def simple(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` without references, alternatives and ``null``: of several ways the first that takes a value.

    What it describes is among what ``schema`` does; whether a value fits is for ``fits`` to say. Raises
    ``NotGenerated``.
    """
    rules = dict(schema) if is_object(schema) else {}
    for _ in range(_MOST_REFERENCES):
        if isinstance(reference := rules.pop("$ref", None), str):
            rules = {**_referred(reference, root), **rules}
        elif is_list(parts := rules.pop("allOf", None)):
            for part in parts:
                rules = {**(part if is_object(part) else {}), **rules}
        elif ways := next((rules[key] for key in _ALTERNATIVES if is_list(rules.get(key))), None):
            rest = {key: value for key, value in rules.items() if key not in _ALTERNATIVES}
            rules = {**rest, **_first_way(ways)}
        else:
            break
    else:
        raise NotGenerated("its schema refers to itself")
    kind: Any = rules.get("type")
    if is_list(kind):
        rules["type"] = next((each for each in kind if each != "null"), "null")
    return rules


def fits(value: Any, schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether ``value`` fits ``schema``, a part of ``root``; true also where a part alone cannot say it."""
    if not is_object(schema):
        return schema is not False
    shared = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
    try:
        return not _checked(json.dumps({**shared, **schema}, sort_keys=True)).faults(value)
    except NotGenerated:
        return True  # a reference to another part of the schema: the arguments are checked as a whole


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raise ``NotGenerated`` when ``arguments`` do not fit ``schema``."""
    faults = _checked(json.dumps(schema, sort_keys=True)).faults(dict(arguments))
    if faults:
        raise NotGenerated(f"no arguments were found that fit its schema ({faults[0]})")


def _referred(reference: str, root: Mapping[str, Any]) -> dict[str, Any]:
    found: Any = root
    if not reference.startswith("#"):
        raise NotGenerated(f"its schema refers to {reference!r}, outside of itself")
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if is_object(found) else None
    if not is_object(found):
        raise NotGenerated(f"its schema refers to {reference!r}, which is not there")
    return dict(found)


def _first_way(ways: Any) -> dict[str, Any]:
    described = [each for each in ways if is_object(each) and each.get("type") != "null"]
    plain = [each for each in described if each.get("type") not in ("object", "array")]
    return dict((plain or described or [{}])[0])


@lru_cache(maxsize=512)
def _checked(schema: str) -> Check:
    import jsonschema_rs

    check = Check(json.loads(schema))
    try:
        check.compile()
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise NotGenerated(f"its schema cannot be used: {str(error).splitlines()[0]}") from None
    return check
