"""``services.upstreams``: other MCP servers whose tools this server can offer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from ...parts.environment import Environment
from ...parts.service import Service, ServiceConfig
from ...problems import Path
from ._upstream_config import ItemName, UpstreamConfig

if TYPE_CHECKING:
    from ._upstreams import Upstreams


class Config(ServiceConfig):
    """``{"github": {"command": "github-mcp-server"}}``: the upstream servers by name."""

    about = "Other MCP servers, by name, whose tools are offered by tools.sources or kind mcp."

    root: dict[ItemName, UpstreamConfig]

    @override
    def started(self) -> Iterable[tuple[str, str]]:
        return ((name, server.connection()) for name, server in self.root.items() if not server.disabled)

    @classmethod
    @override
    def is_local(cls, path: Path) -> bool:
        return True

    @override
    def build(self, environment: Environment) -> Upstreams:
        from ._upstreams import Upstreams

        return Upstreams(self.root, environment)

    @override
    def renewed(self, environment: Environment, earlier: Service) -> Upstreams:
        from ._upstreams import Upstreams

        return Upstreams(self.root, environment, earlier if isinstance(earlier, Upstreams) else None)
