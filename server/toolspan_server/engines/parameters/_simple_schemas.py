"""Schemas that are certainly valid: they are recognised without the schema compiler.

The compiler is the judge of every other schema. Most tools' schemas are of this plain sort, and a server
that starts does not have to load the compiler for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_DEPTH = 16
_FITTING = frozenset({"type", "description", "title", "default", "enum", "minimum", "maximum"})
_PYTHON: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
}


def is_certain(schema: Mapping[str, Any]) -> bool:
    """Whether ``schema`` is certainly a JSON Schema 2020-12 of an object that compiles, defaults included.

    ``False`` decides nothing: the compiler then validates.
    """
    return schema.get("type") == "object" and _is_schema(schema, _DEPTH) and _is_json(schema)


def _is_json(schema: Mapping[str, Any]) -> bool:
    try:
        json.dumps(schema, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


def _is_schema(value: Any, depth: int) -> bool:
    if type(value) is not dict or not depth:
        return False
    schema = cast("dict[str, Any]", value)
    for keyword, operand in schema.items():
        if (inside := _INSIDE.get(keyword)) is not None:
            if not inside(operand, depth - 1):
                return False
        elif (check := _ALONE.get(keyword)) is None or not check(operand):
            return False
    return "default" not in schema or _default_fits(schema)


def _default_fits(schema: dict[str, Any]) -> bool:
    default, kinds = schema["default"], _PYTHON.get(schema.get("type", ""))
    if kinds is None or type(default) not in kinds or schema.keys() - _FITTING:
        return False
    if "enum" in schema and not any(type(one) is type(default) and one == default for one in schema["enum"]):
        return False
    if "minimum" not in schema and "maximum" not in schema:
        return True
    is_number = type(default) is not str and type(default) is not bool
    return is_number and schema.get("minimum", default) <= default <= schema.get("maximum", default)


def _named_schemas(value: Any, depth: int) -> bool:
    if type(value) is not dict:
        return False
    named: dict[Any, Any] = cast("Any", value)
    return all(type(name) is str and _is_schema(part, depth) for name, part in named.items())


def _schema_or_flag(value: Any, depth: int) -> bool:
    return type(value) is bool or _is_schema(value, depth)


def _schemas(value: Any, depth: int) -> bool:
    if type(value) is not list or not value:
        return False
    parts: list[Any] = cast("Any", value)
    return all(_is_schema(part, depth) for part in parts)


def _is_type(value: Any) -> bool:
    return type(value) is str and value in _TYPES


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 53


def _is_names(value: Any) -> bool:
    if type(value) is not list:
        return False
    names: list[Any] = cast("Any", value)
    return all(type(name) is str for name in names) and len(set(names)) == len(names)


def _is_scalars(value: Any) -> bool:
    if type(value) is not list or not value:
        return False
    scalars: list[Any] = cast("Any", value)
    return all(map(_is_scalar, scalars))


def _is_scalar(value: Any) -> bool:
    return value is None or type(value) in (str, bool, int, float)


# A keyword may be missing here: its schema then costs a compilation. One that is listed must be checked at
# least as strictly as the compiler does it, or an invalid schema would be served.
_INSIDE: Mapping[str, Callable[[Any, int], bool]] = {
    "properties": _named_schemas,
    "items": _schema_or_flag,
    "additionalProperties": _schema_or_flag,
    "allOf": _schemas,
    "anyOf": _schemas,
    "oneOf": _schemas,
}
_ALONE: Mapping[str, Callable[[Any], bool]] = {
    "type": _is_type,
    **dict.fromkeys(("title", "description"), _is_text),
    **dict.fromkeys(("enum", "examples"), _is_scalars),
    **dict.fromkeys(("const", "default"), _is_scalar),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("uniqueItems", "deprecated"), _is_flag),
    "required": _is_names,
}
