"""The config keys of a source of an upstream's tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from typing_extensions import override

from ...parts.reference import Reference
from ...parts.source import SourceConfig
from ...problems import Fault, Faulty
from ...schema.constraints import Limits, OneOf
from ...schema.records import (
    Record,
    key,
)
from ...schema.values import Milliseconds

_Ours = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_.-]{1,128}$")]
_Glob = Annotated[str, Limits(least=1, most=256)]


class ToolOverride(Record):
    """Changes to one of the upstream's tools."""

    name: _Ours | None = key("The tool's name on this server, without the prefix.", default=None)
    title: str | None = key(
        "Its name for people, instead of the upstream's.", least=1, most=200, default=None
    )
    description: str | None = key(
        "The description for the model, instead of the upstream's.", least=1, default=None
    )
    pin: dict[str, Any] = key(
        "Arguments that every call has, with fixed values; the model does not see them.",
        factory=dict[str, Any],
    )
    hide: tuple[Annotated[str, Limits(least=1)], ...] = key(
        "Arguments that the model does not see; calls omit them, and send the default of a required one.",
        default=(),
    )
    parameters: dict[str, dict[str, Any]] = key(
        "Keywords of JSON Schema by argument, such as description, that replace the upstream's.",
        factory=dict[str, dict[str, Any]],
    )
    send_defaults: bool = key(
        "Whether what a call leaves out is sent with the defaults of its parameters.", default=False
    )
    timeout_ms: Milliseconds | None = key(
        "Longest time for one call, in milliseconds; default_timeout_ms without it.",
        default=None,
    )

    @override
    def check(self) -> None:
        """Raise when an argument is both pinned and hidden, or one of these also has an override."""
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

    type: Annotated[str, OneOf(("mcp",))] = key(default="mcp")
    upstream: str = key("The name of the server in services.upstreams.", least=1)
    include: tuple[_Glob, ...] = key(
        "The tools to include: globs over their names at the upstream.", least=1, default=("*",)
    )
    exclude: tuple[_Glob, ...] = key("The tools to leave out of those.", default=())
    prefix: str = key("The prefix of every name, such as gh_.", pattern=r"^[A-Za-z0-9_.-]{0,64}$", default="")
    approval: Literal["never", "destructive", "always"] = key(
        "Which calls a person has to allow: of no tool, of those that say that they are destructive, of all.",
        default="never",
    )
    definitions: Literal["announced", "locked"] = key(
        "What becomes of a tool whose definition changes: it is served and that is logged, or it is served "
        "only as toolspan.lock has it.",
        default="announced",
    )
    tools: dict[str, ToolOverride] = key(
        "Changes to single tools, by the name at the upstream.",
        factory=dict[str, ToolOverride],
    )

    @classmethod
    @override
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        yield Reference(("upstream",), "upstreams", written.get("upstream"))
