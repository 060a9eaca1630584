"""The config of one upstream server in ``services.upstreams``."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.mcp_server import McpServerConfig
from ...schema.records import (
    key,
)
from ...schema.values import Seconds

ItemName = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class UpstreamConfig(McpServerConfig):
    """Another MCP server: a ``command`` that speaks over stdio, or a ``url``.

    The connection starts with the server; when it is lost it is restored, with growing pauses.
    """

    connect_seconds: Seconds = key(
        "How long the server may take to start and list its tools, in seconds.", default=10
    )
    may_ask: tuple[Literal["elicitation", "sampling", "roots"], ...] = key(
        "What the server may request of the client during its call; all else is refused.",
        default=("elicitation",),
    )
    max_tools: int = key(
        "Most tools to take from the server; the rest is left out.", least=1, most=100_000, default=1_000
    )
    max_pages: int = key(
        "Most pages to read of its list of tools; the rest is left out.",
        least=1,
        most=10_000,
        default=100,
    )

    @override
    def check(self) -> None:
        super().check()
        if self.oauth is not None:
            hint = 'remove it, and give the server a token in "headers"'
            raise Faulty(
                Fault(("oauth",), "a server signs in nowhere: it has no person to ask", hint, on_key=True)
            )
