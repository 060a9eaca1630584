"""The batch services of providers, one module each: what a module has is ``contract.Service``.

A provider names its service (``batches`` of its row or endpoint).
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from .contract import Service

__all__ = ["service_of"]


def service_of(name: str) -> Service | None:
    """The service with this name; ``None`` for an empty one."""
    return cast("Service", import_module(f"{__name__}.{name}")) if name else None
