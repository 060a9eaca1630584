"""JSON of a server, read within limits."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import from_json

from ....common.json_size import MAX_VALUES, holds_more_values

MAX_MESSAGE_BYTES = 4 * 1024 * 1024

_LARGE = 65_536


def parsed(text: bytes) -> Any:
    """The data in ``text``. Raises ``ValueError`` for invalid JSON, or too much of it.

    While much is made at once, looking for garbage would take most of the time.
    """
    if holds_more_values(text, MAX_VALUES):
        raise ValueError(f"an answer of more than {MAX_VALUES:,} values")
    try:
        return _read(text)
    except ValueError:
        raise ValueError("an answer that is no valid JSON-RPC message") from None


def _read(text: bytes) -> Any:
    if len(text) < _LARGE or not gc.isenabled():
        return from_json(text, allow_inf_nan=False)
    gc.disable()
    try:
        return from_json(text, allow_inf_nan=False)
    finally:
        gc.enable()


def finite(data: Any) -> Any:
    """``data``. Raises ``ValueError`` when it has a number that JSON has not: a NaN, or infinity."""
    left = [data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left.extend(cast("dict[str, Any]", value).values())
        elif isinstance(value, list):
            left.extend(cast("Iterable[Any]", value))
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError("a number that JSON does not have")
    return data
