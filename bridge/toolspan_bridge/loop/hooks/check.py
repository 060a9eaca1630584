"""What is wrong with the hooks of a config, as far as it shows without running any of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolspan_server.common.did_you_mean import nearest
from toolspan_server.config import Config

from .load import text_of

if TYPE_CHECKING:
    from toolspan_server.config import HookConfig

__all__ = ["hook_faults"]


def hook_faults(config: Config) -> list[str]:
    """A line for each hook that can never run: its file or its function is not there, or its tool."""
    faults = ((place, _fault(config, entry)) for place, entry in enumerate(config.hooks))
    return [f"$.hooks[{place}].{fault}" for place, fault in faults if fault]


def _fault(config: Config, entry: HookConfig) -> str:
    if entry.python is not None:
        where, _, name = entry.python.rpartition(":")
        fault = _fault_of_file(config, where, name) if where.endswith(".py") else ""
        return f"python: {fault}" if fault else ""
    server, _, tool = (entry.tool or "").partition("/")
    fault = _fault_of_tool(config, server, tool)
    return f"tool: {fault}" if fault else ""


def _fault_of_file(config: Config, where: str, name: str) -> str:
    try:
        module = ast.parse(text_of(config, where)[1])
    except OSError as error:
        return f"{where} cannot be read: {error.strerror or error}"
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"{where} is no Python: {error}"
    known = set(_names(module))
    return "" if name in known or "*" in known else f"{where} has no {name!r} ({nearest(name, known)})"


def _names(module: ast.Module) -> Iterator[str]:
    """Every name that anything in ``module`` defines, whether or not it is one of the module's in the end."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _fault_of_tool(config: Config, server: str, tool: str) -> str:
    if server in config.mcp_servers:
        return ""
    if server != config.name:
        return f"there is no server {server!r} ({nearest(server, [config.name, *config.mcp_servers])})"
    known = [each.name for each in config.tools.registry]
    if tool in known or config.tools.sources:
        return ""
    return f"{server} has no tool {tool!r} ({nearest(tool, known)})"
