"""Sources: where many tools come from at once. One module a source, named as its ``type`` says.

A source's module has a ``Config`` (inert, validated) whose ``build`` gives the live source. Adding one
is adding a module here; nothing else lists them.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import cast

from ._base import Offer, Source, SourceConfig

__all__ = ["Offer", "Source", "SourceConfig", "source_config", "source_names"]


@cache
def source_names() -> tuple[str, ...]:
    """Every source's type, sorted."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


@cache
def source_config(name: str) -> type[SourceConfig]:
    """The ``Config`` of the source ``name``. Raises ``KeyError`` when there is no such source."""
    if name not in source_names():
        raise KeyError(name)
    return cast("type[SourceConfig]", import_module(f"{__name__}.{name}").Config)
