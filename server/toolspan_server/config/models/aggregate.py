"""``aggregate``: how the servers of ``mcpServers`` are served beside the config's own tools."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.records import Record, key
from ...schema.token_exchange import TokenExchangeConfig
from ...schema.values import Seconds
from .tool_options import OR_FLAG

_Glob = Annotated[str, Limits(least=1, most=256)]
_Ours = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_.-]{1,128}$")]
Asked = Literal["never", "destructive", "always"]
Ability = Literal["elicitation", "sampling", "roots"]


class AggregatedServerConfig(Record):
    """How one of the servers is served."""

    prefix: str | None = key(
        "The prefix of the names of its tools and prompts; the server's name and _ when absent.",
        pattern=r"^[A-Za-z0-9_.-]{0,64}$",
        default=None,
    )
    rename: dict[Annotated[str, Limits(least=1, most=256)], _Ours] = key(
        "Other names of tools, without the prefix, by their names at the server.", factory=dict
    )
    include: tuple[_Glob, ...] = key(
        "The tools and prompts to include: globs over their names at the server.", least=1, default=("*",)
    )
    exclude: tuple[_Glob, ...] = key("The tools and prompts to leave out of those.", default=())
    approval: Asked | None = key(
        "Which of its calls a person has to allow; the approval of aggregate when absent.", default=None
    )
    may_ask: tuple[Ability, ...] | None = key(
        "What it may request of the client during a call; the may_ask of aggregate when absent.", default=None
    )
    token_exchange: TokenExchangeConfig | None = key(
        "Where each caller's token is exchanged for one that the server takes (RFC 8693); the server is then "
        "called with that, and its lists are read with its headers.",
        default=None,
    )
    connect_seconds: Seconds = key(
        "How long the server may take to start and list its tools, in seconds.", default=10
    )
    max_tools: int = key(
        "Most tools to take from the server; the rest is left out.", least=1, most=100_000, default=1_000
    )

    @override
    def check(self) -> None:
        """Raise when two tools would get the same name."""
        seen: dict[str, str] = {}
        faults: list[Fault] = []
        for tool, name in self.rename.items():
            if (other := seen.setdefault(name.lower(), tool)) != tool:
                faults.append(
                    Fault(("rename", tool), f"{other!r} is renamed to {name!r} too", "give it another name")
                )
        if faults:
            raise Faulty(*faults)


class ToolSearchConfig(Record):
    """Lists few tools where there are many: search_tools, call_tool, and chosen ones."""

    above: int = key("Up to how many tools all are listed.", least=0, most=100_000, default=100)
    always: tuple[_Glob, ...] = key(
        "The tools that are listed all the same: globs over their names.", default=()
    )


class AggregateConfig(Record):
    """Serve the servers of mcpServers beside the config's own tools, at one endpoint."""

    servers: dict[str, AggregatedServerConfig] = key(
        "How single servers are served, by their names in mcpServers.",
        factory=dict,
    )
    approval: Asked = key(
        "Which calls a person has to allow: of no tool, of those that say that they are destructive, of all.",
        default="destructive",
    )
    may_ask: tuple[Ability, ...] = key(
        "What servers may request of the client that made a call, during it; all else is refused.",
        default=("elicitation", "sampling"),
    )
    definitions: Literal["announced", "locked"] = key(
        "What becomes of a tool whose definition changes: it is served and that is logged, or it is served "
        "only as toolspan.lock has it.",
        default="announced",
    )
    search: Annotated[ToolSearchConfig | None, OR_FLAG] = key(
        "Where there are many tools, few are listed, and the others found by search_tools; true: with the "
        "defaults.",
        default=None,
    )
