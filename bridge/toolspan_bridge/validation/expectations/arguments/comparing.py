"""When the argument that a model wrote is the one that was expected."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ....providers.wire.json_types import is_list, is_object
from . import (
    approximate,
    contains,
    equals,
    json_schema,
    matches,
    one_of,
    range,
    subset,
    text,
)
from .form import MISSING, Form, shown

FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "approximate": approximate,
        "contains": contains,
        "equals": equals,
        "matches": matches,
        "one_of": one_of,
        "range": range,
        "schema": json_schema,
        "subset": subset,
        "text": text,
    }
)
"""The one-key objects that say how an argument is compared; any other object is itself the value."""

ABSENT = "absent"
"""``{absent: true}``: the argument is not there. No form of a value, for there is none."""


def check_expected(value: Any) -> None:
    """Raise ``ValueError`` when a form inside an expected argument is not usable."""
    name, operand = _form(value)
    if name == ABSENT:
        if operand is not True:
            raise ValueError(f"absent can only be true, not {operand!r} (leave out what may be there)")
    elif name:
        FORMS[name].check(operand, check_expected)
    else:
        for item in value.values() if is_object(value) else value if is_list(value) else ():
            check_expected(item)


def fits(expected: Any, actual: Any) -> bool:
    """Whether ``actual``, or ``MISSING``, is what ``expected`` asks for.

    Numbers are compared as numbers (``2`` is ``2.0``), texts without regard to case and surrounding space;
    of an object only the keys that are given count; a list must fit item by item.
    """
    name, operand = _form(expected)
    if name == ABSENT:
        return actual is MISSING
    if name == "one_of":
        return one_of.fits(operand, actual, fits)  # absence may be one of them
    if actual is MISSING:
        return False
    if name:
        return FORMS[name].fits(operand, actual, fits)
    if is_object(expected):
        return is_object(actual) and all(
            fits(item, actual.get(key, MISSING)) for key, item in expected.items()
        )
    if is_list(expected):
        return is_list(actual) and len(expected) == len(actual) and all(map(fits, expected, actual))
    return equals.equal(expected, actual)


def told(expected: Any) -> str:
    """What ``expected`` asks for, in words: ``expected one of ["C", "F"]``."""
    name, operand = _form(expected)
    if name == ABSENT:
        return "expected it not to be given"
    return FORMS[name].told(operand) if name else f"expected {shown(expected)}"


def _form(value: Any) -> tuple[str, Any]:
    """The name and the operand of a form; an empty name for a value."""
    if is_object(value) and len(value) == 1:
        ((name, operand),) = value.items()
        if name in FORMS or name == ABSENT:
            return str(name), operand
    return "", None
