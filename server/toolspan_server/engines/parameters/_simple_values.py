"""Values that certainly fit a schema: they are recognised without the schema compiler.

The compiler is the judge of every other value. The arguments of most calls are of this plain sort, and a
server that only gets such calls never loads the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._simple_schemas import is_certain

Fits = Callable[[Any], bool]

_USUAL = 1 << 53
_MANY = 64
_OF_ONE_TYPE = frozenset(
    {
        *("properties", "required", "additionalProperties", "items", "minItems", "maxItems", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    }
)


def certain_fit(schema: Mapping[str, Any]) -> Fits | None:
    """The check whether a value certainly fits ``schema``; ``None`` when the schema is beyond such a check.

    ``False`` decides nothing: the compiler then validates. So it does for values with more than 64 members or
    items in one place, which it checks faster.
    """
    return _fits(schema) if is_certain(schema) else None


def _fits(schema: Any) -> Fits:
    if schema is True:
        return _always
    if schema is False or "oneOf" in schema:
        return _never
    asked: list[Fits] = []
    if "type" in schema:
        asked.append(_OF_TYPE[schema["type"]](schema))
    elif not _OF_ONE_TYPE.isdisjoint(schema):
        return _never
    for options in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if options is not None:
            asked = [_one_of(list(filter(_all(asked), options)))]
    asked.extend(map(_fits, schema.get("allOf", ())))
    if "anyOf" in schema:
        asked.append(_any(list(map(_fits, schema["anyOf"]))))
    return _all(asked)


def _always(value: Any) -> bool:
    return True


def _never(value: Any) -> bool:
    return False


def _all(asked: list[Fits]) -> Fits:
    if len(asked) <= 1:
        return asked[0] if asked else _always
    return lambda value: all(fits(value) for fits in asked)


def _any(forms: list[Fits]) -> Fits:
    def form(value: Any) -> bool:
        for fits in forms:  # noqa: SIM110  # any() takes twice as long
            if fits(value):
                return True
        return False

    return form


def _one_of(options: list[Any]) -> Fits:
    texts = frozenset(one for one in options if type(one) is str)
    others = frozenset(map(_typed, filter(_is_usual, options)))
    if not others:
        return lambda value: type(value) is str and value in texts

    def option(value: Any) -> bool:
        if type(value) is str:
            return value in texts
        return _is_usual(value) and _typed(value) in others

    return option


def _typed(value: Any) -> tuple[type[Any], Any]:
    """``1``, ``1.0`` and ``True`` are equal: apart by their types."""
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
    return kind, value


def _is_usual(value: Any) -> bool:
    """Whether it is a number that a double holds exactly, a flag or null."""
    if type(value) is int or type(value) is float:
        return -_USUAL <= value <= _USUAL
    return value is None or type(value) is bool


def _text(schema: Mapping[str, Any]) -> Fits:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if not least and most is None:
        return lambda value: type(value) is str
    return lambda value: type(value) is str and least <= len(value) and (most is None or len(value) <= most)


def _flag(schema: Mapping[str, Any]) -> Fits:
    return lambda value: type(value) is bool


def _null(schema: Mapping[str, Any]) -> Fits:
    return lambda value: value is None


def _integer(schema: Mapping[str, Any]) -> Fits:
    least, most, rest = _bounds(schema)
    if rest is None:
        return lambda value: type(value) is int and least <= value <= most
    return lambda value: type(value) is int and least <= value <= most and rest(value)


def _number(schema: Mapping[str, Any]) -> Fits:
    integer = _integer(schema)
    least, most, rest = _bounds(schema)
    if rest is None:
        return lambda value: (type(value) is float and least <= value <= most) or integer(value)
    return lambda value: (type(value) is float and least <= value <= most and rest(value)) or integer(value)


def _bounds(schema: Mapping[str, Any]) -> tuple[float, float, Fits | None]:
    """The least and the greatest number, of those that a double holds exactly; and what else is asked."""
    least, most = max(schema.get("minimum", -_USUAL), -_USUAL), min(schema.get("maximum", _USUAL), _USUAL)
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if above is None and below is None:
        return least, most, None
    return least, most, lambda value: (above is None or above < value) and (below is None or value < below)


def _array(schema: Mapping[str, Any]) -> Fits:
    if schema.get("uniqueItems"):
        return _never
    fits = _fits(schema.get("items", True))
    least, most = schema.get("minItems", 0), min(schema.get("maxItems", _MANY), _MANY)

    def array(value: Any) -> bool:
        if type(value) is not list:
            return False
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return least <= len(items) <= most and all(map(fits, items))

    return array


def _object(schema: Mapping[str, Any]) -> Fits:
    known = {name: _fits(part) for name, part in schema.get("properties", {}).items()}
    rest = _fits(schema.get("additionalProperties", True))
    required: list[str] = schema.get("required", [])

    def members(value: Any) -> bool:
        if type(value) is not dict:
            return False
        given: dict[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]
        if len(given) > _MANY:
            return False
        for name in required:
            if name not in given:
                return False
        for name, item in given.items():
            fits = known.get(name)
            if not (type(name) is str and rest(item) if fits is None else fits(item)):
                return False
        return True

    return members


_OF_TYPE: Mapping[str, Callable[[Mapping[str, Any]], Fits]] = {
    "array": _array,
    "boolean": _flag,
    "integer": _integer,
    "null": _null,
    "number": _number,
    "object": _object,
    "string": _text,
}
