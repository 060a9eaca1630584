"""OpenAPI descriptions: which operations there are, with their arguments, schemas and security."""

from __future__ import annotations

from ._errors import UnusableDescription

__all__ = ["UnusableDescription"]
