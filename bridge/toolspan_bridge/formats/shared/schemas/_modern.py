"""Recognises schemas in the form of 2020-12, as most are: nothing to localise, upgrade or strip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..json_values import is_list, is_object


def is_modern(schema: Any) -> bool:
    """Whether ``schema`` has only well-known keywords with values of their types, and no references.

    ``localise``, ``upgrade`` and ``strip`` would return it unchanged. ``False`` means unknown.
    """
    if not is_object(schema):
        return isinstance(schema, bool)
    for keyword, value in schema.items():
        fits = _SORTS.get(keyword)
        if fits is None or not fits(value):
            return False
    return True


def _is_anything(_value: Any) -> bool:
    return True


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_filled(value: Any) -> bool:
    return is_list(value) and bool(value)


def _is_choice(value: Any) -> bool:
    return is_list(value) and bool(value) and len({f"{type(each)}{each!r}" for each in value}) == len(value)


def _is_names(value: Any) -> bool:
    return is_list(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_map(value: Any) -> bool:
    return is_object(value) and all(map(is_modern, value.values()))


def _is_list(value: Any) -> bool:
    return is_list(value) and all(map(is_modern, value))


_SORTS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("const", "default"), _is_anything),
    **dict.fromkeys(("deprecated", "readOnly", "uniqueItems", "writeOnly"), _is_flag),
    **dict.fromkeys(("description", "format", "pattern", "title", "type"), _is_text),
    **dict.fromkeys(("maxItems", "maxLength", "maxProperties", "maximum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minItems", "minLength", "minProperties", "minimum", "exclusiveMinimum"), _is_number),
    "multipleOf": _is_number,
    "enum": _is_choice,
    "examples": _is_filled,
    "required": _is_names,
    **dict.fromkeys(("dependentSchemas", "patternProperties", "properties"), _is_map),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _is_list),
    **dict.fromkeys(("additionalProperties", "contains", "else", "if", "items", "not", "then"), is_modern),
    "propertyNames": is_modern,
}
