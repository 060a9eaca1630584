"""The config file: read, validated, frozen.

Of the server's packages this is the main one that the bridge imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..common.redaction import pattern as secret_pattern
from ..errors import ConfigError
from ..problems import Problem
from ..schema.documents import load_document
from .consent import (
    UntrustedItem,
    refusal,
    untrusted_code,
    untrusted_server,
    untrusted_servers,
)
from .loading.load import DEFAULT_FILES, find_config, load_config
from .models.config import Config
from .models.limits import LimitsConfig
from .models.names import BUILTIN
from .models.tasks import TaskConfig
from .models.tool import ToolConfig
from .models.tools import ToolsConfig
from .overview import contents, counted, offer

if TYPE_CHECKING:
    from ..schema.mcp_server import McpServerConfig
    from .models.providers import ProviderConfig
    from .models.routes import ResponseRule
    from .models.toolsets import ToolsetConfig

__all__ = [
    "BUILTIN",
    "DEFAULT_FILES",
    "Config",
    "ConfigError",
    "LimitsConfig",
    "McpServerConfig",
    "Problem",
    "ProviderConfig",
    "ResponseRule",
    "TaskConfig",
    "ToolConfig",
    "ToolsConfig",
    "ToolsetConfig",
    "UntrustedItem",
    "contents",
    "counted",
    "find_config",
    "load_config",
    "load_document",
    "offer",
    "refusal",
    "secret_pattern",
    "untrusted_code",
    "untrusted_server",
    "untrusted_servers",
]

_IMPORTED_LATER = {
    "McpServerConfig": "toolspan_server.schema.mcp_server",
    "ProviderConfig": "toolspan_server.config.models.providers",
    "ResponseRule": "toolspan_server.config.models.routes",
    "ToolsetConfig": "toolspan_server.config.models.toolsets",
}


def __getattr__(name: str) -> Any:
    module = _IMPORTED_LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(module), name)
    return value
