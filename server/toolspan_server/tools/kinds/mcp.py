"""``mcp``: a tool of another MCP server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, cast

from typing_extensions import override

from ...calls.content import Content
from ...calls.context import Context
from ...parts.environment import Environment
from ...parts.kind import Kind, KindConfig
from ...parts.reference import Reference
from ...problems import Path
from ...schema.constraints import OneOf
from ...schema.records import (
    key,
)

if TYPE_CHECKING:
    from ..services._upstreams import Upstreams


class Config(KindConfig):
    """``{"type": "mcp", "upstream": "<one of services.upstreams>", "tool": "<its name there>"}``."""

    type: Annotated[str, OneOf(("mcp",))] = key(default="mcp")
    upstream: str = key("The name of the server in services.upstreams.", least=1)
    tool: str = key("The tool's name at the upstream.", least=1, most=256)
    pin: dict[str, Any] = key(
        "Arguments that every call has, with fixed values; they are not in parameters.",
        factory=dict[str, Any],
    )
    send_defaults: bool = key(
        "Whether what a call leaves out is sent with the defaults of parameters; otherwise it is not sent.",
        default=False,
    )

    @classmethod
    @override
    def references(cls, written: Mapping[str, Any]) -> Iterable[Reference]:
        yield Reference(("upstream",), "upstreams", written.get("upstream"))

    @classmethod
    @override
    def pinned(cls, written: Mapping[str, Any]) -> Iterable[Path]:
        pin = written.get("pin")
        return [("pin", name) for name in cast("dict[str, Any]", pin)] if isinstance(pin, dict) else ()

    @property
    @override
    def fills_defaults(self) -> bool:
        return self.send_defaults

    @property
    @override
    def server(self) -> str:
        return self.upstream

    @override
    def target(self) -> str:
        return f"upstream {self.upstream!r}"

    @override
    def build(self, environment: Environment) -> Kind:
        return _Proxied(self.upstream, self.tool, self.pin)


@dataclass(frozen=True, slots=True)
class _Proxied:
    upstream: str
    tool: str
    pin: Mapping[str, Any] = field(default_factory=dict[str, Any])
    talks: bool = True
    passes_tasks: bool = True

    async def call(self, arguments: Mapping[str, Any], context: Context) -> Content:
        """The result of the upstream's tool, with its content blocks."""
        from ._upstream_call import UpstreamCall

        upstreams: Upstreams = context.service("upstreams")
        upstream = upstreams.named(self.upstream)
        return await UpstreamCall(upstream, self.tool, {**arguments, **self.pin}, context).made()
