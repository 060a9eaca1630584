"""JSON types as type guards for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypeIs


def is_object(value: Any) -> TypeIs[Mapping[str, Any]]:
    """Whether ``value`` is a JSON object."""
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeIs[list[Any]]:
    """Whether ``value`` is a JSON array."""
    return isinstance(value, list)
