"""Providers of models: a base URL, its authentication and quirks, and its wire format."""

from __future__ import annotations

from .contract import Provider
from .pool import ProviderPool
from .resolve import (
    DEFAULT_MODEL,
    WithheldProvider,
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
    "ProviderPool",
    "WithheldProvider",
    "own_providers",
    "provider_names",
    "resolve_model",
    "split_model",
]
