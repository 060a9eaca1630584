"""Realistic values for parameters, made of their schemas, names and descriptions."""

from __future__ import annotations

from .made import Parameter, value_for

__all__ = ["Parameter", "value_for"]
