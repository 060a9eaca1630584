"""``{approximate: {value: 6.75, within: 0.01}}``: a number at most so far from the value."""

from __future__ import annotations

from typing import Any

from ..numbers import checked_within, is_number, is_within
from .form import Check, Fits


def check(operand: Any, check: Check) -> None:
    del check
    checked_within("approximate", operand)


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    del fits
    return is_number(actual) and is_within(actual, operand["value"], operand["within"])


def told(operand: Any) -> str:
    return f"expected {operand['value']} ± {operand['within']}"
