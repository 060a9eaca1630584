"""MCP servers that other clients have already: found in their files, and written into a config.

Nothing is started or connected to. A registry entry (``server.json``) is read into the same kind of entry.
"""

from __future__ import annotations

from ._config_file import configured_servers, planned_import
from ._found import FoundServer, UnreadFile, found_servers
from ._secrets import Replacements, is_secret, without_secrets

__all__ = [
    "FoundServer",
    "Replacements",
    "UnreadFile",
    "configured_servers",
    "found_servers",
    "is_secret",
    "planned_import",
    "without_secrets",
]
