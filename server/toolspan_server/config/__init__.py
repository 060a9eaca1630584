"""The config file: read, checked, frozen.

This is the one room of the server that the bridge may import.
"""

from __future__ import annotations

from ..errors import ConfigError
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
from ._servers import McpServerConfig
from ._tasks import TaskConfig
from ._toolsets import ToolsetConfig

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
    "contents",
    "counted",
    "find_config",
    "load_config",
    "load_document",
    "offer",
]
