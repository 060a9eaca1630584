"""Between what SQL holds and what JSON holds."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, cast


def as_json(value: Any) -> Any:
    """A value of a row as JSON: dates as ISO 8601, bytes as base64; what has no JSON form as its text.

    A decimal is a number where that is exactly the same, else its text; NaN and infinities are null.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(cast("Any", value))).decode()
    if isinstance(value, Mapping):
        items: Iterable[tuple[Any, Any]] = cast("Any", value).items()
        return {str(key): as_json(part) for key, part in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(part) for part in cast("Iterable[Any]", value)]
    return str(value)


def as_parameter(value: Any) -> Any:
    """An argument as it is bound: an object as its JSON, a list with each of its values so."""
    if isinstance(value, Mapping):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return [as_parameter(part) for part in cast("Sequence[Any]", value)]
    return value


def unique(names: Iterable[str]) -> list[str]:
    """``names``, each another: a second ``id`` is ``id_2``."""
    seen: dict[str, None] = {}
    for name in names:
        count, free = 1, name
        while free in seen:
            count += 1
            free = f"{name}_{count}"
        seen[free] = None
    return list(seen)


def _decimal(value: Decimal) -> Any:
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) < 1 << 53:
        return int(value)
    near = float(value)
    return near if math.isfinite(near) and Decimal(repr(near)) == value else str(value)
