"""Registry entries (``server.json`` of the official MCP registry), read from a file or URL."""

from __future__ import annotations

from ._inputs import Inputs, Wanted
from ._registry import Offer, RegistryServer, entry_of, registry_server
from ._source import registry_document

__all__ = ["Inputs", "Offer", "RegistryServer", "Wanted", "entry_of", "registry_document", "registry_server"]
