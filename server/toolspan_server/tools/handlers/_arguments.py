"""What a handler reads from its arguments, however loose the tool's schema is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ...engines.parameters import type_name
from ...errors import InvalidParameters

_REQUIRED: Any = object()


def text_of(arguments: Mapping[str, Any], name: str, default: str = _REQUIRED) -> str:
    """The text ``name``. Raises ``InvalidParameters`` when it is missing or no text; so do all here."""
    value = _given(arguments, name, default)
    if not isinstance(value, str):
        raise _wrong(name, "a string", value)
    return value


def optional_text(arguments: Mapping[str, Any], name: str) -> str | None:
    """The text ``name``, or ``None`` when it isn't given."""
    return None if arguments.get(name) is None else text_of(arguments, name)


def choice_of(
    arguments: Mapping[str, Any], name: str, options: Sequence[str], default: str = _REQUIRED
) -> str:
    """The text ``name``, one of ``options``."""
    value = _given(arguments, name, default)
    if value not in options:
        raise InvalidParameters([f"'{name}' must be one of: {', '.join(options)}"])
    return cast("str", value)


def integer_of(arguments: Mapping[str, Any], name: str, default: int = _REQUIRED) -> int:
    """The integer ``name``; ``2.0`` is one."""
    value = _given(arguments, name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name, "an integer", value)
    return value


def optional_integer(arguments: Mapping[str, Any], name: str) -> int | None:
    """The integer ``name``, or ``None`` when it isn't given."""
    return None if arguments.get(name) is None else integer_of(arguments, name)


def positive_of(arguments: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """The integer ``name``, from 1 to ``most``."""
    value = integer_of(arguments, name, default)
    if not 1 <= value <= most:
        raise InvalidParameters([f"'{name}' must be from 1 to {most:,}"])
    return value


def number_of(arguments: Mapping[str, Any], name: str, default: float = _REQUIRED) -> float:
    """The finite number ``name``."""
    value = _given(arguments, name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(name, "a number", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidParameters([f"'{name}' must be a finite number"])
    return value


def texts_of(arguments: Mapping[str, Any], name: str) -> list[str]:
    """The array of texts ``name``."""
    value = _given(arguments, name, _REQUIRED)
    if not isinstance(value, list):
        raise _wrong(name, "an array", value)
    items: list[Any] = cast("Any", value)
    faults = [
        f"'{name}[{index}]' must be a string (got {type_name(item)})"
        for index, item in enumerate(items)
        if not isinstance(item, str)
    ]
    if faults:
        raise InvalidParameters(faults[:20])
    return items


def _given(arguments: Mapping[str, Any], name: str, default: Any) -> Any:
    value = arguments.get(name, default)
    if value is _REQUIRED:
        raise InvalidParameters([f"missing '{name}'"])
    return value


def _wrong(name: str, wanted: str, value: Any) -> InvalidParameters:
    return InvalidParameters([f"'{name}' must be {wanted} (got {type_name(value)})"])
