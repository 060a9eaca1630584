"""Untrusted JSON: narrowed, cleaned, quoted. Every format reads replies through these functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from toolspan_server.common.json_size import MAX_VALUES_BESIDE, holds_more_values
from toolspan_server.common.json_values import LARGEST_COUNT

MAX_NESTING = 64

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAY_BE_LONE = re.compile(rb"\\u[dD]|\xed|\0|[\xfe\xff]")
"""What a lone surrogate may be written as: an escape, three bytes, or an encoding that is not UTF-8."""


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether ``value`` is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Whether ``value`` is a JSON array."""
    return isinstance(value, list)


def as_object(value: Any) -> dict[str, Any] | None:
    """``value`` when it is a JSON object."""
    return value if is_object(value) else None


def as_list(value: Any) -> list[Any] | None:
    """``value`` when it is a JSON array."""
    return value if is_list(value) else None


def at(value: Any, *keys: str) -> Any:
    """The value under ``keys``, one object inside the other; ``None`` when a key is missing."""
    for key in keys:
        value = (as_object(value) or {}).get(key)
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a JSON array; other items are skipped, and other values have none."""
    return [found for entry in as_list(value) or [] if (found := as_object(entry)) is not None]


def text(value: Any) -> str:
    """``value`` when it is a string, else the empty one."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """``value`` when it is a natural number that can be counted with, up to ``LARGEST_COUNT``, else 0."""
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_COUNT
    return value if usable else 0


def compact(value: Any) -> str:
    """JSON without blanks, its text readable."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_SIMPLE = frozenset((int, float, bool, type(None)))


class CleanObject(dict[str, Any]):
    """An object made by ``clean``, which need not be cleaned again. It is shared and must not be changed."""


def clean(value: Any) -> Any:
    """A copy that UTF-8 can encode: lone surrogates replaced, mappings and sequences converted."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, CleanObject):
        return value
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if _is_mapping(value):
        return clean_object(value)
    return [clean(entry) for entry in value] if _is_array(value) else value


def clean_object(value: Mapping[str, Any]) -> dict[str, Any]:
    """``clean`` for an object."""
    return {
        key if type(key) is str and key.isascii() else str(clean(str(key))): clean(entry)
        for key, entry in value.items()
    }


def nesting(value: Any) -> int:
    """The nesting depth of objects and arrays; counted up to ``MAX_NESTING + 1``."""
    level, depth = [value], 0
    while depth <= MAX_NESTING:
        inside = [_entries(entry) for entry in level if _is_mapping(entry) or _is_array(entry)]
        if not inside:
            break
        level, depth = [entry for entries in inside for entry in entries], depth + 1
    return depth


class TooManyValues(ValueError):
    """JSON with more values than are read of one text. The message follows what the text is."""


def load(source: str | bytes) -> Any:
    """Strict JSON. Raises ``ValueError`` for anything else, ``NaN`` and excessive nesting included, and
    ``TooManyValues``."""
    if holds_more_values(source, MAX_VALUES_BESIDE):
        raise TooManyValues(f"holds more than {MAX_VALUES_BESIDE:,} values")
    try:
        return json.loads(source, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def load_nearly(source: str) -> Any:
    """``load``, also of JSON whose texts hold raw line breaks and other control characters, and of JSON that
    is repeated whole: there is one way to read them. Raises ``ValueError`` as ``load`` does."""
    try:
        return load(source)
    except ValueError as error:
        fault = error
    source = source.strip()
    try:
        value, end = _LENIENT.raw_decode(source)
    except (ValueError, RecursionError):
        raise fault from None
    if source.replace(source[:end], "").strip():
        raise fault
    return value


def is_surely_clean(source: bytes) -> bool:
    """Whether what ``load`` makes of ``source`` needs no ``clean``."""
    return _MAY_BE_LONE.search(source) is None


def may_be_deep(source: bytes) -> bool:
    """Whether ``source`` has so many brackets that it may be nested deeper than ``MAX_NESTING``."""
    return source.count(b"{") + source.count(b"[") > MAX_NESTING


def snippet(value: Any, limit: int = 200) -> str:
    """The beginning of invalid input, on one line, for a message."""
    if isinstance(value, bytes):
        value = value[: limit * 4].decode("utf-8", "replace")
    shown = value[: limit * 4] if isinstance(value, str) else repr(value)
    shown = " ".join(_SURROGATE.sub("\ufffd", shown).split())
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _is_array(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _entries(container: Any) -> Iterable[Any]:
    return container.values() if _is_mapping(container) else container


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_LENIENT = json.JSONDecoder(strict=False, parse_constant=_no_constant)
