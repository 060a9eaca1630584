"""Providers: who answers. A base URL, its auth and quirks, and the format that it speaks."""

from __future__ import annotations

from .contract import Provider
from .resolve import (
    DEFAULT_MODEL,
    foreign_provider,
    own_providers,
    provider_names,
    resolve_model,
    split_model,
)
from .wire.model_facts import ModelFacts

__all__ = [
    "DEFAULT_MODEL",
    "ModelFacts",
    "Provider",
    "foreign_provider",
    "own_providers",
    "provider_names",
    "resolve_model",
    "split_model",
]
