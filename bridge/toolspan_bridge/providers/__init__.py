"""Providers: who answers. A base URL, its auth and quirks, and the format that it speaks."""

from __future__ import annotations

from ._contract import Provider
from ._facts import ModelFacts
from ._resolve import (
    DEFAULT_MODEL,
    foreign_provider,
    own_providers,
    provider_names,
    resolve_model,
    split_model,
)

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
