"""``mcp``: the tools of another MCP server, all or chosen, as they are or changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from ...parts.environment import Environment
from ...parts.source import Source
from ._mcp_config import McpSourceConfig


class Config(McpSourceConfig):
    """``{"type": "mcp", "upstream": "<one of services.upstreams>"}``: all of its tools."""

    @override
    def build(self, environment: Environment, services: Mapping[str, Any]) -> Source:
        from ._mcp_source import McpSource

        return McpSource(self, services["upstreams"], environment.config_dir)
