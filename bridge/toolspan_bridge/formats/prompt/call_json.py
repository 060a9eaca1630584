"""JSON in which a model writes calls."""

from __future__ import annotations

import json
from typing import Any

from ..shared.json_values import load

__all__ = ["call_values", "first_value_end"]

_MAX_VALUES = 100
"""How many values one text may hold."""


def call_values(content: str) -> list[Any]:
    """The JSON values that ``content`` is: one, or several with only blanks between them. An object in
    doubled braces, as templates show it and small models repeat it, is that object.

    Raises ``ValueError`` for anything else.
    """
    content = content.strip()
    if content.startswith("{{") and content.endswith("}}"):
        content = content[1:-1]
    try:
        return [load(content)]
    except ValueError as error:
        fault = error
    decoder, values = json.JSONDecoder(), list[Any]()
    while content and len(values) < _MAX_VALUES:
        try:
            _, end = decoder.raw_decode(content)
        except (ValueError, RecursionError):
            raise fault from None
        values.append(load(content[:end]))
        content = content[end:].lstrip()
    if content or not values:
        raise fault
    return values


def first_value_end(content: str) -> int:
    """Where the JSON value ends that ``content`` begins with; 0 where there is none."""
    try:
        return json.JSONDecoder().raw_decode(content)[1]
    except (ValueError, RecursionError):
        return 0
