"""``web_fetch`` and ``web_search`` of a workspace: which hosts are read, which engine is asked."""

from __future__ import annotations

from typing import Annotated

from ...engines.http_client._hosts import Domain, PrivateHost
from ...parts.search_engine import SEARCH_ENGINES, SearchEngineConfig
from ...schema.constraints import Limits, PlainValidator
from ...schema.records import Record, key
from ...schema.tagged import chosen
from ...schema.values import Count, Milliseconds

Engine = Annotated[
    SearchEngineConfig,
    PlainValidator(
        chosen("search engine", SearchEngineConfig, SEARCH_ENGINES), {"definition": "SearchEngine"}
    ),
]


class WebFetchConfig(Record):
    """What WebFetch may read, and how much."""

    allowed_domains: tuple[Domain, ...] | None = key(
        "The hosts that pages may come from: example.com, *.example.com; every public one when absent.",
        least=1,
        default=None,
    )
    allow_private: tuple[PrivateHost, ...] = key(
        "Hosts, addresses and networks that may be private: localhost, 10.0.0.0/8.", default=()
    )
    timeout_ms: Milliseconds = key("Longest time for a page, redirects included.", default=30_000)
    max_response_bytes: Count = key("Largest page, in bytes, unpacked.", default=5_242_880)
    page_characters: Annotated[int, Limits(200)] = key(
        "Most characters of a page that a result holds.", default=100_000
    )
    cache_seconds: Annotated[int, Limits(0, 86_400)] = key(
        "How long a page is kept and used again, in seconds.", default=900
    )
