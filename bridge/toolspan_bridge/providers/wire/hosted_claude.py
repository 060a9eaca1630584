"""Claude by Anthropic's Messages API at the address of another: what that one lacks is left out.

Source: anthropic 2.12.0, ``lib/vertex`` and ``lib/bedrock/_mantle.py``, and platform.claude.com on both,
read in November 2026: neither finds the end of what it is to cache itself, nor searches among tools.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from typing_extensions import override

from ...formats.names import NameTable
from ...formats.shared.claude.caching import end_marked
from ...messages import Request
from .endpoint_provider import EndpointProvider
from .token_counts import CountsTokens
from .unbound_thoughts import UnboundThoughts, with_betas

COUNTED = ("messages", "output_config", "system", "thinking", "tool_choice", "tools")
"""The members of a request beside its model that Anthropic's count of tokens takes."""


class HostedClaude(CountsTokens, UnboundThoughts, EndpointProvider):
    """The common part of such providers. ``served`` are those of Anthropic's own tools that run there."""

    counted = "input_tokens"
    searches_tools = False
    served: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def _count_url(self) -> str:
        """The URL of the count of tokens."""

    @override
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._count_url(), {"model": model, **{key: body[key] for key in COUNTED if key in body}}

    @override
    async def _headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return with_betas(await super()._headers(url, body), self._betas)

    @override
    async def _ready(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        missing = [name for name in dict.fromkeys(request.builtins) if name not in self.served]
        kept = tuple(name for name in request.builtins if name in self.served)
        request, notes = await super()._ready(replace(request, builtins=kept))
        return request, (*notes, *(f"{self.name} runs no {name}: it is left out" for name in missing))

    @override
    async def _body(self, request: Request, names: NameTable) -> dict[str, Any]:
        body = await super()._body(request, names)
        marked = body.pop("cache_control", None)
        return end_marked(body) if marked else body
