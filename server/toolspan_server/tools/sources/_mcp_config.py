"""What an entry of ``tools.sources`` says for an upstream's tools."""

from __future__ import annotations

from typing import Any

from typing_extensions import override

from ...parts.source import SourceConfig
from ...problems import Fault, Faulty
from ...schema.records import (
    ANYTHING,
    Record,
    choice,
    key,
    many,
    named,
    optional,
    text,
)
from ...schema.values import MILLISECONDS

_OURS = text(pattern=r"^[A-Za-z0-9_.-]{1,128}$")
_GLOB = text(least=1, most=256)


class ToolOverride(Record):
    """What is other than the upstream says, for one of its tools."""

    name: str | None = key(optional(_OURS), "The name that it has here, without the prefix.", default=None)
    title: str | None = key(
        optional(text(least=1, most=200)), "Its name for people, instead of the upstream's.", default=None
    )
    description: str | None = key(
        optional(text(least=1)), "What it does, for the model, instead of the upstream's words.", default=None
    )
    pin: dict[str, Any] = key(
        named(ANYTHING),
        "Arguments that every call is made with; the model does not see them.",
        factory=dict[str, Any],
    )
    hide: tuple[str, ...] = key(
        many(text(least=1)),
        "Arguments that the model does not see; they have their default, or are left out.",
        default=(),
    )
    parameters: dict[str, dict[str, Any]] = key(
        named(named(ANYTHING)),
        "Keywords of JSON Schema by argument, such as description, that replace the upstream's.",
        factory=dict[str, dict[str, Any]],
    )
    timeout_ms: int | None = key(
        optional(MILLISECONDS),
        "Longest time for one call, in milliseconds; default_timeout_ms without it.",
        default=None,
    )

    @override
    def check(self) -> None:
        """An argument is pinned or hidden, and nothing is said of one that is not seen."""
        faults = [
            Fault(("hide",), f"{name!r} is pinned too", "keep one of them")
            for name in self.hide
            if name in self.pin
        ]
        faults += [
            Fault(("parameters", name), f"{name!r} is pinned or hidden", "remove it", on_key=True)
            for name in self.parameters
            if name in self.pin or name in self.hide
        ]
        if faults:
            raise Faulty(*faults)


class McpSourceConfig(SourceConfig):
    """The keys of a source of type ``mcp``."""

    type: str = key(choice("mcp"), default="mcp")
    upstream: str = key(text(least=1), "The name of the server in services.upstreams.")
    include: tuple[str, ...] = key(
        many(_GLOB, least=1), "Which of its tools: globs over the names that it gives them.", default=("*",)
    )
    exclude: tuple[str, ...] = key(many(_GLOB), "Which of those not.", default=())
    prefix: str = key(
        text(pattern=r"^[A-Za-z0-9_.-]{0,64}$"), "What every name starts with here, such as gh_.", default=""
    )
    tools: dict[str, ToolOverride] = key(
        named(ToolOverride.shape()),
        "What is to be other than the upstream says, by the tool's name there.",
        factory=dict[str, ToolOverride],
    )
