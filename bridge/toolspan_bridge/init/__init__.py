"""A config to start from: of mocks, of web APIs, of another server's tools."""

from __future__ import annotations

from ._apis import api_source, http_tool, mock_tool
from ._document import Entry, config_text
from ._record import recorded

__all__ = ["Entry", "api_source", "config_text", "http_tool", "mock_tool", "recorded"]
