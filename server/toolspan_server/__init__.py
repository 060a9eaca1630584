"""Toolspan's server: tools from a config file, served over MCP.

For handlers: ``handler``, ``Context``, ``ToolFailure``. For embedding: ``load_config``, ``running``.
"""

from __future__ import annotations

from ._collector import paused as _paused

with _paused():
    from .config import Config, load_config
    from .context import Context
    from .errors import ConfigError, ServeError, ToolFailure, ToolspanError
    from .executor import Executor
    from .handlers import handler
    from .registry import Registry
    from .results import ToolResult
    from .runtime import running

__all__ = [
    "Config",
    "ConfigError",
    "Context",
    "Executor",
    "Registry",
    "ServeError",
    "ToolFailure",
    "ToolResult",
    "ToolspanError",
    "handler",
    "load_config",
    "running",
]
