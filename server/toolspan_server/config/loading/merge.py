"""Merges several files into one config."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeVar, cast

from ...schema.records import Record

M = TypeVar("M", bound=Record)


def united(configs: Sequence[M]) -> M:
    """One config of several: lists are concatenated, named entries merged.

    Of any other setting the first file that has it takes precedence.
    """
    return reduce(_joined, configs)


def _joined(first: M, second: M) -> M:
    changes = {
        name: _value(getattr(first, name), getattr(second, name))
        if name in first.model_fields_set
        else getattr(second, name)
        for name in second.model_fields_set
    }
    return first.model_copy(update=changes)


def _value(first: Any, second: Any) -> Any:
    if isinstance(first, Record) and isinstance(second, Record):
        return _joined(first, second)
    if isinstance(first, tuple) and isinstance(second, tuple):
        return (*cast("Sequence[Any]", first), *cast("Sequence[Any]", second))
    if isinstance(first, dict) and isinstance(second, dict):
        return {**cast("dict[str, Any]", first), **cast("dict[str, Any]", second)}
    return cast("object", first)
