"""``{contains: text}``: the text holds the part, in any case; a list holds such a value."""

from __future__ import annotations

from typing import Any

from ....providers.wire.json_types import is_list
from ..patterns import checked_text, contains
from .form import Check, Fits, shown


def check(operand: Any, check: Check) -> None:
    del check
    checked_text("contains", operand)


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    if is_list(actual):
        return any(fits(operand, item) for item in actual)
    return isinstance(actual, str) and contains(actual, operand)


def told(operand: Any) -> str:
    return f"expected it to contain {shown(operand)}"
