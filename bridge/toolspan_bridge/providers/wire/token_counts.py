"""Providers that count the tokens of a request themselves, by an operation that answers nothing else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from toolspan_server.common.json_values import LARGEST_COUNT, read_foreign_json

from ...formats.names import NameTable
from ...messages import Request
from .json_types import is_object
from .own_state import for_provider
from .provider import WireProvider


class CountsTokens(WireProvider):
    """The common part of providers with ``count_tokens``. ``counted`` is the member of their answer."""

    counted: ClassVar[str]

    @abstractmethod
    def _count(self, model: str, body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The URL and the body of the question how many tokens the request ``body`` has."""

    async def count_tokens(self, request: Request) -> int:
        """The tokens of ``request`` by the provider's own count: of its messages, tools and system prompt.

        Raises as ``answer``; ``ProviderError`` for models that the provider does not count for.
        """
        request, _ = await self._ready(for_provider(request, self._origin, self._rendering))
        url, body = self._count(request.model, await self._body(request, NameTable.of(request.tools)))
        answer = await self._post(url, body)
        if not 200 <= answer.status < 300:
            raise self._failure(answer, request.model)
        try:
            found = read_foreign_json(answer.content)
        except ValueError:
            found = None
        tokens = found.get(self.counted) if is_object(found) else None
        if not isinstance(tokens, int) or isinstance(tokens, bool) or not 0 <= tokens <= LARGEST_COUNT:
            raise self._nonsense(f"it counted no {self.counted}")
        return tokens
