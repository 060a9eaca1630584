"""The edge for JSON that other servers answer with, or that stands in their texts.

What a provider, an identity server or an MCP server says is used as far as it can be: half a surrogate pair
is written out, and a document that JSON does not allow, or that is nested too deeply, is none.
"""

from __future__ import annotations

import json
import math
from typing import Any, cast

from .json_values import MAX_DEPTH, repaired

LARGEST_COUNT = 2**53 - 1
"""The largest number that every reader of JSON has exactly: a count beyond is none."""


def read_foreign_json(source: str | bytes) -> Any:
    """The value of ``source``, which UTF-8, a database and JSON can hold again. Raises ``ValueError``."""
    try:
        value = json.loads(source, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return _clean(value, 0)


def foreign_number(value: Any, least: float = 0.0, most: float = float(LARGEST_COUNT)) -> float | int | None:
    """``value`` where it is a finite number from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        return None
    return value


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else repaired(value)
    if not isinstance(value, dict | list):
        return value
    if depth == MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {
            key if key.isascii() else repaired(key): _clean(each, depth + 1) for key, each in members.items()
        }
    return [_clean(each, depth + 1) for each in value]


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"a number is too large: {digits[:20]}")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
