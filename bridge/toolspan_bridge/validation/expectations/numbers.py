"""Numbers in suites."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypeIs

from ...providers.wire.json_types import is_object


def is_number(value: object) -> TypeIs[int | float]:
    """Whether ``value`` is a number; ``true`` is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def checked_within(kind: str, operand: object) -> tuple[float, float]:
    """``value`` and ``within`` of the form ``kind``. Raises ``ValueError``."""
    given: Mapping[str, Any] = operand if is_object(operand) else {}
    value, within = given.get("value"), given.get("within")
    if set(given) != {"value", "within"} or not is_number(value) or not is_number(within) or within < 0:
        raise ValueError(f"{kind} needs {{value: number, within: distance}}, not {operand!r}")
    return value, within


def is_within(value: float, wanted: float, distance: float) -> bool:
    """Whether ``value`` is at most ``distance`` from ``wanted``, but for the last digit of a float."""
    try:
        return abs(value - wanted) <= distance or math.isclose(abs(value - wanted), distance, rel_tol=1e-9)
    except OverflowError:
        return False
