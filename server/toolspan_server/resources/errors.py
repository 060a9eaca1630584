"""Errors of reading a resource.

ToolspanError
├── ResourceNotFound      the client: no resource has that URI (any more)
└── ResourceUnreadable    the operator: it exists, but cannot be read
"""

from __future__ import annotations

from ..errors import ToolspanError


class ResourceNotFound(ToolspanError):
    """There is no resource ``uri``."""

    def __init__(self, uri: str) -> None:
        super().__init__("Resource not found")
        self.uri = uri


class ResourceUnreadable(ToolspanError):
    """The resource ``uri`` cannot be read; the message says why."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(f"The resource cannot be read: {why}")
        self.uri = uri
