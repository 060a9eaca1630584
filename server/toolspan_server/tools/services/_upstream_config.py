"""The config of one upstream server in ``services.upstreams``."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Literal

from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.mcp_server import McpServerConfig
from ...schema.records import (
    Record,
    key,
)
from ...schema.token_exchange import TokenExchangeConfig
from ...schema.values import Seconds

_Glob = Annotated[str, Limits(least=1, most=256)]
ItemName = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class UpstreamPromptsConfig(Record):
    """Which of an upstream's prompts are served, and how they are called."""

    prefix: str = key("The prefix of every name.", pattern=r"^[A-Za-z0-9_.-]{0,64}$", default="")
    include: tuple[_Glob, ...] = key(
        "The prompts to include: globs over their names at the upstream.", least=1, default=("*",)
    )
    exclude: tuple[_Glob, ...] = key("The prompts to leave out of those.", default=())

    def selects(self, name: str) -> bool:
        """Whether the upstream's prompt ``name`` is served."""
        included = any(fnmatchcase(name, glob) for glob in self.include)
        return included and not any(fnmatchcase(name, glob) for glob in self.exclude)


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

    resources: bool = key(
        "Whether its resources and resource templates are served too, by its own URIs.", default=False
    )
    prompts: UpstreamPromptsConfig | None = key(
        "Which of its prompts are served too; none when absent.", default=None
    )

    token_exchange: TokenExchangeConfig | None = key(
        "Where each caller's token is exchanged for one that the server takes (RFC 8693); the server is then "
        "called with that, and its lists are read with headers.",
        default=None,
    )

    @override
    def check(self) -> None:
        super().check()
        if self.token_exchange is not None and self.url is None:
            fault = Fault(
                ("token_exchange",), "only a server with a url takes tokens", "remove it", on_key=True
            )
            raise Faulty(fault)
        if self.oauth is not None:
            hint = 'remove it, and give the server a token in "headers"'
            raise Faulty(
                Fault(("oauth",), "a server signs in nowhere: it has no person to ask", hint, on_key=True)
            )
