"""What can go wrong when a resource is read.

ToolspanError
├── ResourceNotFound      the client: there is none of that URI (any more)
└── ResourceUnreadable    the operator: it is there, and cannot be given
"""

from __future__ import annotations

from ..errors import ToolspanError


class ResourceNotFound(ToolspanError):
    """There is no resource ``uri``."""

    def __init__(self, uri: str) -> None:
        super().__init__("Resource not found")
        self.uri = uri


class ResourceUnreadable(ToolspanError):
    """The resource ``uri`` cannot be given; the message says why."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(f"The resource cannot be read: {why}")
        self.uri = uri
