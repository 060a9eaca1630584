"""The version of the package, without a look into its metadata, which costs tens of milliseconds."""

from __future__ import annotations

__version__ = "0.2.0"
