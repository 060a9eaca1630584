"""Brave Search, by its Web Search API (``api.search.brave.com/res/v1/web/search``)."""

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

_MOST = 20
_LONGEST = 400


class Config(SearchEngineConfig):
    """``{"type": "brave", "api_key": "${BRAVE_API_KEY}"}``."""

    type: Annotated[str, OneOf(("brave",))] = key(default="brave")
    api_key: str = key("The subscription token: ${BRAVE_API_KEY}.", least=1, hidden=True)
    url: str = key(
        "The address of the API.", default="https://api.search.brave.com/res/v1/web/search", check=check_url
    )

    @property
    @override
    def address(self) -> str:
        return self.url

    @override
    def secrets(self) -> Iterable[str]:
        yield self.api_key

    @override
    def request(self, question: SearchQuestion) -> Request:
        query = {"q": question.with_sites()[:_LONGEST], "count": min(question.count, _MOST)}
        headers = (
            ("Accept", "application/json"),
            ("Accept-Encoding", "gzip"),
            ("X-Subscription-Token", self.api_key),
        )
        return Request("GET", f"{self.url}?{urlencode(query)}", headers)

    @override
    def hits(self, answer: Any) -> Iterable[Hit]:
        return hits_in(member(member(answer, "web"), "results"), "description")
