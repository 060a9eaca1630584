"""The config file: read, checked, frozen.

This is the one room of the server that the bridge may import.
"""

from __future__ import annotations

from ..errors import ConfigError
from ._consent import Foreign, foreign_code, foreign_server, foreign_servers, refusal
from ._contents import contents, counted, offer
from ._document import load_document
from ._limits import LimitsConfig
from ._load import DEFAULT_FILES, find_config, load_config
from ._models import (
    BUILTIN,
    Config,
    ResponseRule,
    ToolConfig,
    ToolsConfig,
)
from ._problems import Problem
from ._providers import ProviderConfig
from ._secrets import pattern as secret_pattern
from ._servers import McpServerConfig
from ._tasks import TaskConfig
from ._toolsets import ToolsetConfig

__all__ = [
    "BUILTIN",
    "DEFAULT_FILES",
    "Config",
    "ConfigError",
    "Foreign",
    "LimitsConfig",
    "McpServerConfig",
    "Problem",
    "ProviderConfig",
    "ResponseRule",
    "TaskConfig",
    "ToolConfig",
    "ToolsConfig",
    "ToolsetConfig",
    "contents",
    "counted",
    "find_config",
    "foreign_code",
    "foreign_server",
    "foreign_servers",
    "load_config",
    "load_document",
    "offer",
    "refusal",
    "secret_pattern",
]
