"""``{equals: value}``: exactly this value, in which nothing is a form."""

from __future__ import annotations

import math
from typing import Any

from ..numbers import is_number
from .form import Check, Fits, shown


def check(operand: Any, check: Check) -> None:
    del operand, check


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    del fits
    return equal(operand, actual)


def told(operand: Any) -> str:
    return f"expected {shown(operand)}"


def equal(expected: Any, actual: Any) -> bool:
    """Numbers as numbers (``2`` is ``2.0``), texts without regard to case and to surrounding space."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if is_number(expected) and is_number(actual):
        return expected == actual or _close(expected, actual)
    if isinstance(expected, str) and isinstance(actual, str):
        return expected.strip().casefold() == actual.strip().casefold()
    return bool(expected == actual)


def _close(expected: float, actual: float) -> bool:
    try:
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)
    except OverflowError:
        return False
