"""Tavily, a search engine made for models, by its Search API (``api.tavily.com/search``)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from typing_extensions import override

from ...engines.http_client import Request
from ...engines.http_client._hosts import check_url
from ...parts.search_engine import Hit, SearchEngineConfig, SearchQuestion
from ...schema.constraints import OneOf
from ...schema.records import key
from ._reading import hits_in, member

_MOST = 20


class Config(SearchEngineConfig):
    """``{"type": "tavily", "api_key": "${TAVILY_API_KEY}"}``."""

    type: Annotated[str, OneOf(("tavily",))] = key(default="tavily")
    api_key: str = key("The key: ${TAVILY_API_KEY}.", least=1, hidden=True)
    search_depth: Literal["basic", "advanced"] = key("How thoroughly it searches.", default="basic")
    url: str = key("The address of the API.", default="https://api.tavily.com/search", check=check_url)

    @property
    @override
    def address(self) -> str:
        return self.url

    @override
    def secrets(self) -> Iterable[str]:
        yield self.api_key

    @override
    def request(self, question: SearchQuestion) -> Request:
        body: dict[str, Any] = {
            "query": question.text,
            "max_results": min(question.count, _MOST),
            "search_depth": self.search_depth,
        }
        if question.allowed:
            body["include_domains"] = list(question.allowed)
        if question.blocked:
            body["exclude_domains"] = list(question.blocked)
        headers = (
            ("Accept", "application/json"),
            ("Content-Type", "application/json"),
            ("Authorization", f"Bearer {self.api_key}"),
        )
        return Request("POST", self.url, headers, json.dumps(body).encode())

    @override
    def hits(self, answer: Any) -> Iterable[Hit]:
        return hits_in(member(answer, "results"), "content")
