"""Finds modules and reads their source without importing them, or their packages."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any


def found_spec(module: str) -> ModuleSpec:
    """Where ``module`` is. Raises ``ModuleNotFoundError`` when it, or a package that it is in, is missing."""
    places: Any = None
    spec: ModuleSpec | None = None
    for end in range(1, module.count(".") + 2):
        part = ".".join(module.split(".")[:end])
        known = getattr(sys.modules.get(part), "__path__", None)
        if known is not None and part != module:
            places = known
            continue
        spec = PathFinder.find_spec(part, places)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {part!r}", name=part)
        places = spec.submodule_search_locations
    assert spec is not None
    return spec


def source_of(module: str) -> bytes | None:
    """The text of ``module``; ``None`` where there is none, as of a compiled one."""
    spec = found_spec(module)
    read = getattr(spec.loader, "get_data", None)
    if spec.origin is None or read is None or not spec.origin.endswith(".py"):
        return None
    text: bytes = read(spec.origin)
    return text
