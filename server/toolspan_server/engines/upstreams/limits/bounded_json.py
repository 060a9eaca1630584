"""JSON of a server, read within limits."""

from __future__ import annotations

import gc
import math
import re
from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import from_json

from ....common.json_size import MAX_VALUES, holds_more_values

MAX_MESSAGE_BYTES = 4 * 1024 * 1024

_LARGE = 65_536


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


def mend_halves(text: bytes) -> bytes:
    """JSON ``text`` with U+FFFD for each half of a surrogate pair that stands alone.

    Programs that cut texts by UTF-16 units write it. The rest of the message is right, but no
    parser takes it.
    """
    if _HALF.search(text) is None:
        return text
    return _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)


def parsed(text: bytes) -> Any:
    """The data in ``text``. Raises ``ValueError`` for invalid JSON, or too much of it.

    While much is made at once, looking for garbage would take most of the time.
    """
    if holds_more_values(text, MAX_VALUES):
        raise ValueError(f"an answer of more than {MAX_VALUES:,} values")
    try:
        return _read(mend_halves(text))
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
