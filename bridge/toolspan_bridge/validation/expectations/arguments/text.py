"""``{text: New York}``: the same text but for case and white space, wherever it is."""

from __future__ import annotations

from typing import Any

from ..patterns import checked_text
from .form import Check, Fits, shown


def check(operand: Any, check: Check) -> None:
    del check
    checked_text("text", operand)


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    del fits
    return isinstance(actual, str) and _bare(actual) == _bare(operand)


def told(operand: Any) -> str:
    return f"expected {shown(operand)}, in any case and with any spaces"


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()
