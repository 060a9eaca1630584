"""Writing a server into the config of an MCP client."""

from __future__ import annotations

from ._changes import Change, planned
from ._entries import Server, served_by_command, snippet
from ._files import apply
from .clients import CLIENTS, Client

__all__ = ["CLIENTS", "Change", "Client", "Server", "apply", "planned", "served_by_command", "snippet"]
