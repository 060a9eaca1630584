"""Toolspan's server: tools from a config file, served over MCP.

For handlers: ``handler``, ``Context``, ``ToolFailure``. For embedding: ``load_config``, ``running``.
What is named here is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls.context import Context
    from .calls.results import ToolResult
    from .config import Config, load_config
    from .engines.registration import handler
    from .errors import (
        ConfigError,
        ServeError,
        ToolFailure,
        ToolspanError,
    )
    from .live.runtime import running
    from .tools.executor import Executor
    from .tools.registry import Registry

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

_MODULES = {
    "Config": "config",
    "ConfigError": "errors",
    "Context": "calls.context",
    "Executor": "tools.executor",
    "Registry": "tools.registry",
    "ServeError": "errors",
    "ToolFailure": "errors",
    "ToolResult": "calls.results",
    "ToolspanError": "errors",
    "handler": "engines.registration",
    "load_config": "config",
    "running": "live.runtime",
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
