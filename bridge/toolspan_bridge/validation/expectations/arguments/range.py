"""``{range: {min: …, max: …}}``: a number between the two, or with one of them alone on its side."""

from __future__ import annotations

from typing import Any

from ....providers.wire.json_types import is_object
from ..numbers import is_number
from .form import Check, Fits


def check(operand: Any, check: Check) -> None:
    del check
    if not is_object(operand) or not operand or not operand.keys() <= {"min", "max"}:
        raise ValueError(f"range needs {{min: number, max: number}} or one of them, not {operand!r}")
    if wrong := [key for key, value in operand.items() if not is_number(value)]:
        raise ValueError(f"range needs a number as {wrong[0]}, not {operand[wrong[0]]!r}")
    if len(operand) == 2 and operand["min"] > operand["max"]:
        raise ValueError(f"range: min {operand['min']} is more than max {operand['max']}")


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    del fits
    if not is_number(actual):
        return False
    return ("min" not in operand or actual >= operand["min"]) and (
        "max" not in operand or actual <= operand["max"]
    )


def told(operand: Any) -> str:
    bounds = [f"{word} {operand[key]}" for key, word in (("min", "from"), ("max", "to")) if key in operand]
    return f"expected a number {' '.join(bounds)}"
