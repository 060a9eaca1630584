"""The config file: read, checked, frozen.

This is the one room of the server that the bridge may import.
"""

from __future__ import annotations

from ..common.redaction import pattern as secret_pattern
from ..errors import ConfigError
from ..problems import Problem
from ..schema.documents import load_document
from ..schema.mcp_server import McpServerConfig
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
from .models.providers import ProviderConfig
from .models.routes import BUILTIN, ResponseRule
from .models.tasks import TaskConfig
from .models.tool import ToolConfig
from .models.tools import ToolsConfig
from .models.toolsets import ToolsetConfig
from .overview import contents, counted, offer

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
