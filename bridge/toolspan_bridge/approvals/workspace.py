"""What our own server says of a tool of a workspace: of which one it is, and which tool it works as."""

from __future__ import annotations

from toolspan_server.engines.upstreams import ListedTool

__all__ = ["works_as", "workspace_name"]

_WORKS_AS, _WORKSPACE = "works-as:", "workspace:"


def works_as(tool: ListedTool) -> str:
    """The name that tells what ``tool`` does, such as ``Edit`` of one that a config has as ``docs_Edit``."""
    return _tagged(tool, _WORKS_AS) or tool.name


def workspace_name(tool: ListedTool) -> str:
    """The name of its workspace in the config; empty where it has none."""
    return _tagged(tool, _WORKSPACE)


def _tagged(tool: ListedTool, prefix: str) -> str:
    return next((tag.removeprefix(prefix) for tag in tool.tags if tag.startswith(prefix)), "")
