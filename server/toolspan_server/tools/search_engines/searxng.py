"""SearXNG, a search engine that anyone can run, by its Search API (``/search?format=json``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import urlencode

from typing_extensions import override

from ...engines.http_client import Request
from ...engines.http_client._hosts import check_url
from ...parts.search_engine import Hit, SearchEngineConfig, SearchQuestion
from ...schema.constraints import OneOf
from ...schema.records import key
from ._reading import hits_in, member


class Config(SearchEngineConfig):
    """``{"type": "searxng", "url": "http://127.0.0.1:8888"}``; its settings must list ``json`` in
    ``search.formats``."""

    type: Annotated[str, OneOf(("searxng",))] = key(default="searxng")
    url: str = key("The address of the instance, without /search.", least=1, check=check_url)
    language: str | None = key("The language of results, such as en or de-AT.", least=1, default=None)

    @property
    @override
    def address(self) -> str:
        return self.url

    @override
    def request(self, question: SearchQuestion) -> Request:
        query = {"q": question.with_sites(), "format": "json"}
        if self.language is not None:
            query["language"] = self.language
        headers = (("Accept", "application/json"), ("Accept-Encoding", "gzip, deflate"))
        return Request("GET", f"{self.url.rstrip('/')}/search?{urlencode(query)}", headers)

    @override
    def hits(self, answer: Any) -> Iterable[Hit]:
        return hits_in(member(answer, "results"), "content")
