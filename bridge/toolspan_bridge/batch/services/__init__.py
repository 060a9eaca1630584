"""The batch services of providers, one module each: ``LIMITS``, ``create``, ``status`` and ``results``."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from .contract import Service

__all__ = ["service_of"]

_MODULES = {
    "anthropic": "anthropic",
    "gemini": "gemini",
    "openai": "openai",
    "openai-responses": "openai",
}


def service_of(provider: str) -> Service | None:
    """The service of the provider with this name; ``None`` where it has none."""
    module = _MODULES.get(provider)
    return None if module is None else cast("Service", import_module(f"{__name__}.{module}"))
