"""The config file: read, checked, frozen.

This is the one room of the server that the bridge may import.
"""

from __future__ import annotations

from ..errors import ConfigError
from ._document import load_document
from ._load import DEFAULT_FILES, find_config, load_config
from ._models import (
    Config,
    LimitsConfig,
    ResponseRule,
    ToolConfig,
    ToolsConfig,
)
from ._problems import Problem
from ._servers import McpServerConfig
from ._tasks import TaskConfig
from ._toolsets import ToolsetConfig

__all__ = [
    "DEFAULT_FILES",
    "Config",
    "ConfigError",
    "LimitsConfig",
    "McpServerConfig",
    "Problem",
    "ResponseRule",
    "TaskConfig",
    "ToolConfig",
    "ToolsConfig",
    "ToolsetConfig",
    "find_config",
    "load_config",
    "load_document",
]
