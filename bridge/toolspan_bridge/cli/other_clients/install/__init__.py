"""Writing a server into the config of an MCP client."""

from __future__ import annotations

from ._changes import FileChange, planned
from ._entries import ServerEntry, served_by_command, snippet
from ._files import apply
from .clients import CLIENTS, Client

__all__ = [
    "CLIENTS",
    "Client",
    "FileChange",
    "ServerEntry",
    "apply",
    "planned",
    "served_by_command",
    "snippet",
]
