"""Providers: who answers. A base URL, its auth and quirks, and the format that it speaks."""

from __future__ import annotations

from ._contract import Provider
from ._resolve import DEFAULT_MODEL, provider_names, resolve_model

__all__ = ["DEFAULT_MODEL", "Provider", "provider_names", "resolve_model"]
