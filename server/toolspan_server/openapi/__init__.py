"""OpenAPI descriptions: which operations there are, and each of them as a tool."""

from __future__ import annotations

from ._errors import UnusableDescription
from ._tools import Made, tools_of

__all__ = ["Made", "UnusableDescription", "tools_of"]
