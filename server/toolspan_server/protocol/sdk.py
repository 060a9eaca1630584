"""The server as the ``mcp`` SDK serves it: its features give plain data, everything else is the SDK's.

Importing this module imports ``mcp``, which takes half a second: import it where it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp_types import ServerCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from typing_extensions import override

from .._version import __version__
from ..surface import Surface
from ._calls import Calls
from .capabilities import capabilities
from .features import tools


def build_server(surface: Surface, calls: Calls) -> Server[Any]:
    """The server of ``surface``, for every protocol revision that the SDK speaks.

    ``calls`` runs the calls of tools, within their limits.
    """

    def input_schema(name: str) -> dict[str, Any] | None:
        found = surface.tool(name)
        return None if found is None else found.config.parameters

    server = _Server(surface, input_schema)
    tools.register(server, surface, calls)
    server.middleware.clear()  # only OpenTelemetry's, paid for on every message
    return server


class _Server(Server[Any]):
    def __init__(self, surface: Surface, input_schema: Callable[[str], dict[str, Any] | None]) -> None:
        super().__init__(
            surface.name,
            version=__version__,
            instructions=surface.instructions,
            get_tool_input_schema=input_schema,
        )
        self._surface = surface

    @override
    def get_capabilities(
        self, *_options: Any, protocol_version: str | None = None, **_more: Any
    ) -> ServerCapabilities:
        modern = protocol_version in MODERN_PROTOCOL_VERSIONS
        return ServerCapabilities.model_validate(capabilities(self._surface, modern=modern))
