"""Kinds: how a tool is implemented. One module a kind, named as ``implementation.type`` says.

A kind's module has a ``Config`` (inert, validated) whose ``build`` gives the live kind. Adding a
kind is adding a module here; nothing else lists them.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import cast

from ._base import Calling, Environment, Kind, KindConfig

__all__ = ["Calling", "Environment", "Kind", "KindConfig", "kind_config", "kind_names"]


@cache
def kind_names() -> tuple[str, ...]:
    """Every kind's name, sorted."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


@cache
def kind_config(name: str) -> type[KindConfig]:
    """The ``Config`` model of the kind ``name``. Raises ``KeyError`` when there is no such kind."""
    if name not in kind_names():
        raise KeyError(name)
    return cast("type[KindConfig]", import_module(f"{__name__}.{name}").Config)
