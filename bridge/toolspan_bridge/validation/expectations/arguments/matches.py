"""``{matches: pattern}``: the RE2 pattern is found in the text."""

from __future__ import annotations

from typing import Any

from ..patterns import checked_pattern, matches
from .form import Check, Fits, shown


def check(operand: Any, check: Check) -> None:
    del check
    checked_pattern("matches", operand)


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    del fits
    return isinstance(actual, str) and matches(actual, operand)


def told(operand: Any) -> str:
    return f"expected it to match {shown(operand)}"
