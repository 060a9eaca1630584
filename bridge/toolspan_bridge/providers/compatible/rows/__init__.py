"""The providers that speak one of OpenAI's formats: a module each, with a ``ROW``."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import cast

from ..row import Row


@cache
def row_names() -> tuple[str, ...]:
    """The name of every such provider, sorted. None of them is imported."""
    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__)))


def row_of(name: str) -> Row:
    """The row of the provider ``name``. Raises ``KeyError`` when there is none."""
    if name not in row_names():
        raise KeyError(name)
    return cast("Row", import_module(f"{__name__}.{name.replace('-', '_')}").ROW)
