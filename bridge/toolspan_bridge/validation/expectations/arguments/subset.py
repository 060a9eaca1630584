"""``{subset: [values]}``: a list that holds all of these, in any order; of an object, these members."""

from __future__ import annotations

from typing import Any

from ....providers.wire.json_types import is_list, is_object
from .form import Check, Fits, shown


def check(operand: Any, check: Check) -> None:
    if not (is_list(operand) or is_object(operand)) or not operand:
        raise ValueError(f"subset needs a list or an object that is not empty, not {operand!r}")
    for item in operand.values() if is_object(operand) else operand:
        check(item)


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    if is_object(operand):
        return is_object(actual) and all(
            key in actual and fits(item, actual[key]) for key, item in operand.items()
        )
    return is_list(actual) and all(any(fits(item, each) for each in actual) for item in operand)


def told(operand: Any) -> str:
    return f"expected it to hold {shown(operand)}"
