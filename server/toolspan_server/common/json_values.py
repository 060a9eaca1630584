"""Converts Python values to plain JSON within limits, for input and output.

``read_foreign_json`` is the edge for JSON that other servers answer with: what a provider, an identity server
or an MCP server says is used as far as it can be.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from .json_size import MAX_VALUES, holds_more_values

MAX_DEPTH = 64
MAX_DIGITS = 4_000
_USUAL = 1 << 53
_MEMBER = 20
_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"
SMALL = 1_024
_INTEGER_LIMIT = 10**MAX_DIGITS


class NotJson(ValueError):
    """A value that JSON cannot hold. ``what`` follows the field's name: ``is a set, …``."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.path: list[str | int] = []


class OverBudget(ValueError):
    """The copy would exceed its limit. The message is the limit: ``1,000,000 bytes``."""


def dotted(path: Iterable[str | int]) -> str:
    """``address.city``, ``items[2].name``: where a value is, at most some 200 characters long."""
    text = ""
    for part in path:
        text += (
            f"[{part}]"
            if isinstance(part, int)
            else f".{shortened(part, 80)}"
            if text
            else shortened(part, 80)
        )
    return repaired(shortened(text, 200))


def shortened(text: str, limit: int) -> str:
    """``text``, shortened in the middle when it is longer than ``limit``."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}…{text[-(limit // 4) :]}"


def repaired(text: str) -> str:
    r"""``text`` with every lone surrogate written as ``\udXXX``."""
    return text.encode("utf-8", "backslashreplace").decode()


def is_small(value: Any) -> bool:
    """Whether ``value`` is a plain object of at most ``SMALL`` bytes that ``JsonSanitizer`` leaves as it is.

    ``False`` means unknown. Most arguments and results are of this sort: ASCII texts, numbers of usual size,
    no objects in it.
    """
    if type(value) is not dict:
        return False
    size = 0
    members: dict[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]
    for key, item in members.items():
        if type(key) is not str or not key or not key.isascii():
            return False
        kind: type[Any] = type(item)  # pyright: ignore[reportUnknownVariableType]
        if kind is str:
            if not item.isascii():
                return False
            size += len(item)
        elif kind is int:
            if not -_USUAL < item < _USUAL:
                return False
        elif kind is not bool and item is not None:
            return False
        size += len(key) + _MEMBER
    return size <= SMALL


def refused(text: str) -> str:
    """Raises ``NotJson``: for texts that must not hold a lone surrogate."""
    raise NotJson("holds half of a surrogate pair, which is not a character")


@dataclass(slots=True)
class JsonSanitizer:
    """Copies a value as plain JSON, and counts.

    ``on_surrogate`` gets each text that UTF-8 cannot hold, and ``on_text`` each other one; what they
    give is used instead. ``size`` grows to the copy's bytes as compact JSON, escapes not counted.
    A copy that may be ``partial`` ends where it is ``full`` instead of raising ``OverBudget``.
    """

    max_values: int
    max_size: int
    on_surrogate: Callable[[str], str] = repaired
    on_text: Callable[[str], str] | None = None
    max_key: int | None = None
    partial: bool = False
    full: bool = False
    values: int = 0
    size: int = 0

    def copy(self, value: Any, depth: int = 0) -> Any:
        """The copy. Raises ``NotJson`` with the path of the value at fault, or ``OverBudget``."""
        self.values += 1
        self.size += 2
        if self.values > self.max_values:
            self._overflow(f"{self.max_values:,} values")
        kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
        if kind is str:
            if self.on_text is not None or not value.isascii():
                return self._text(value)
            self.size += len(value)
            if self.size > self.max_size:
                self._overflow(f"{self.max_size:,} bytes")
            return value
        if kind is dict:
            return self._object(value, depth)
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, int):
            return self._integer(value)
        if isinstance(value, float):
            return self._float(value)
        if isinstance(value, (dict, list, tuple)):
            if isinstance(value, dict):
                return self._object(cast("Any", value), depth)
            return self._array(cast("Any", value), depth)
        raise NotJson(f"is of the Python type {type(value).__name__}, which JSON cannot hold")

    def _overflow(self, limit: str) -> None:
        if not self.partial:
            raise OverBudget(limit)
        self.full = True

    def _text(self, text: str) -> str:
        if text.isascii():
            self.size += len(text)
        else:
            try:
                self.size += len(text.encode())
            except UnicodeEncodeError:
                text = self.on_surrogate(text)
                self.size += len(text.encode())
        if self.size > self.max_size:
            self._overflow(f"{self.max_size:,} bytes")
        return text if self.on_text is None else self.on_text(text)

    def _integer(self, value: int) -> int:
        if not -_INTEGER_LIMIT < value < _INTEGER_LIMIT:
            raise NotJson(f"is an integer of more than {MAX_DIGITS:,} digits")
        self.size += value.bit_length() // 4
        return value if type(value) is int else int.__int__(value)

    def _float(self, value: float) -> float:
        if not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            raise NotJson(f"is {name}, which JSON cannot hold")
        self.size += 16
        return value if type(value) is float else float.__float__(value)

    def _array(self, value: Iterable[Any], depth: int) -> list[Any]:
        copied: list[Any] = []
        if depth >= MAX_DEPTH:
            raise NotJson(_TOO_DEEP)
        try:
            for item in value:
                if self.full:
                    break
                copied.append(self.copy(item, depth + 1))
        except NotJson as fault:
            fault.path.insert(0, len(copied))
            raise
        return copied

    def _object(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        key: Any = ""
        if depth >= MAX_DEPTH:
            raise NotJson(_TOO_DEEP)
        try:
            for key, item in value.items():
                if self.full:
                    return copied
                copied[self._key(key)] = self.copy(item, depth + 1)
        except NotJson as fault:
            fault.path.insert(0, key if isinstance(key, str) else repr(key))
            raise
        if len(copied) != len(value):
            raise NotJson("has two keys that are the same in JSON")
        return copied

    def _key(self, key: Any) -> str:
        if isinstance(key, str):
            if self.max_key is not None and not 1 <= len(key) <= self.max_key:
                raise NotJson(f"is a name of {len(key):,} characters; names have 1 to {self.max_key:,}")
            return self._text(key if type(key) is str else str.__str__(key))
        if isinstance(key, int) and not isinstance(key, bool):
            return str(self._integer(key))
        raise NotJson(f"is a key of the Python type {type(key).__name__}; JSON keys are texts")


LARGEST_COUNT = 2**53 - 1
"""The largest number that every reader of JSON has exactly: a count beyond is none."""


def read_foreign_json(source: str | bytes) -> Any:
    """The value of ``source``, which UTF-8, a database and JSON can hold again. Raises ``ValueError``."""
    if holds_more_values(source, MAX_VALUES):
        raise ValueError(f"it holds more than {MAX_VALUES:,} values")
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
    return [_clean(each, depth + 1) for each in cast("Any", value)]


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"a number is too large: {digits[:20]}")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
