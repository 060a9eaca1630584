"""A provider's list of models, read page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...errors import ProviderError, UsageError
from .api import ProviderApi
from .model_facts import ModelFacts, Page, openai_page

MAX_MODELS = 5_000
_MAX_PAGES = 20


class ListsModels(ProviderApi):
    """The common part of providers with a list of models."""

    no_list: ClassVar[str] = ""
    """Why the provider lists no models, if it does not."""

    async def models(self) -> tuple[ModelFacts, ...]:
        """The models that the provider lists, with the facts in its list; at most ``MAX_MODELS``. Models
        without a name and duplicates are dropped.

        Raises ``UsageError`` when it has no list, ``ProviderError`` when its answer is none, else as
        ``Provider.answer``.
        """
        if self.no_list:
            raise UsageError(f"{self.name} has no list of models: {self.no_list}")
        found: dict[str, ModelFacts] = {}
        after = ""
        for _ in range(_MAX_PAGES):
            content = await self._page(after)
            try:
                read = self._read_page(content)
            except (ValueError, RecursionError) as error:
                raise ProviderError(f"{self.name} sent no list of models: {error}") from None
            found.update((facts.model, facts) for facts in read.models if facts.model)
            after = read.after
            if not after or len(found) >= MAX_MODELS:
                break
        return tuple(found.values())[:MAX_MODELS]

    async def version_of(self, model: str) -> str:
        """The digest or version of ``model`` that the provider tells; empty where it tells none. Raises as
        ``models``."""
        return ""

    def _list_url(self, after: str) -> str:
        """The URL of the list of models; ``after`` requests its next page."""
        return f"{self._base}/models"

    def _read_page(self, content: bytes) -> Page:
        return openai_page(content)

    async def _list_headers(self, url: str, body: bytes) -> Mapping[str, str]:
        return await self._headers(url, body)

    async def _page(self, after: str) -> bytes:
        answer = await self._client.get(self._list_url(after), self._list_headers, self._format.parse_error)
        if answer.status == 404:
            raise ProviderError(f"{self.name} at {self._base} has no list of models", status=404)
        if not 200 <= answer.status < 300:
            raise self._failure(answer, "")
        return answer.content
