"""What is kept of a trial: text that any file and database takes, without secrets, within a size."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ..messages import Json

Redact = Callable[[str], str]

MAX_RECORD_BYTES = 262_144
"""Largest record, in bytes of JSON: 256 KiB."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_MAX_DEPTH = 64
_MAX_INTEGER_BITS = 13_288  # 4,000 decimal digits
_SHRINKAGE = ((16_384, 500), (2_048, 100), (256, 20), (64, 5))


def clean_text(text: str) -> str:
    """``text`` with a replacement character for each lone surrogate, which no UTF-8 can hold."""
    return _SURROGATES.sub("\ufffd", text)


def clean(value: object, redact: Redact, depth: int = 0) -> Json:
    """``value`` as JSON that every reader takes: no surrogates, no NaN, no endless integers, no secrets."""
    if depth > _MAX_DEPTH:
        return f"[left out: nested deeper than {_MAX_DEPTH}]"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(redact(value))
    if isinstance(value, int):
        bits = value.bit_length()
        return value if bits <= _MAX_INTEGER_BITS else f"[left out: an integer of {bits} bits]"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {clean_text(redact(str(key))): clean(item, redact, depth + 1) for key, item in items}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [clean(item, redact, depth + 1) for item in cast("Sequence[object]", value)]
    return f"[left out: a value of type {type(value).__name__}]"


def fitted(value: Mapping[str, Json], limit: int = MAX_RECORD_BYTES) -> str:
    """``value`` (clean) as JSON of at most ``limit`` bytes. What did not fit is cut, and ``cut`` says so."""
    text = _dumped(value)
    size = len(text.encode())
    if size <= limit:
        return text
    note = f"this record was {size:,} bytes, over the limit of {limit:,}: long texts and lists are cut"
    for characters, items in _SHRINKAGE:
        text = _dumped({**_shrunk(value, characters, items), "cut": note})
        if len(text.encode()) <= limit:
            return text
    return _dumped(
        {"cut": f"this record was {size:,} bytes, over the limit of {limit:,}: nothing of it is kept"}
    )


def _dumped(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _shrunk(value: object, characters: int, items: int) -> Any:
    if isinstance(value, str):
        return cut_text(value, characters)
    if isinstance(value, list):
        entries = cast("list[object]", value)
        kept = [_shrunk(item, characters, items) for item in entries[:items]]
        return kept if len(entries) <= items else [*kept, f"… [cut: {len(entries):,} items in all]"]
    if isinstance(value, dict):
        pairs = list(cast("dict[str, object]", value).items())
        shrunk = {cut_text(key, characters): _shrunk(item, characters, items) for key, item in pairs[:items]}
        return shrunk if len(pairs) <= items else {**shrunk, "…": f"[cut: {len(pairs):,} keys in all]"}
    return value


def cut_text(text: str, characters: int) -> str:
    """``text``, or its first ``characters`` and how many it had."""
    return text if len(text) <= characters else f"{text[:characters]}… [cut: {len(text):,} characters in all]"
