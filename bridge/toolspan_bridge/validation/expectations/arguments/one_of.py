"""``{one_of: [values]}``: any of these, each a value or a form."""

from __future__ import annotations

from typing import Any

from ....providers.wire.json_types import is_list
from .form import Check, Fits, shown


def check(operand: Any, check: Check) -> None:
    if not is_list(operand) or not operand:
        raise ValueError(f"one_of needs a list of at least one value, not {operand!r}")
    for item in operand:
        check(item)


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    return any(fits(item, actual) for item in operand)


def told(operand: Any) -> str:
    return f"expected one of {shown(operand)}"
