"""``rag_query``: search the document collections of ``services.collections``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...calls.context import Context
from ...engines.registration import handler
from ...errors import InvalidParameters
from ...schema.keys import Inert

if TYPE_CHECKING:
    from ..services._collections import Collections

QUERY_CHARACTERS = 10_000
MOST_RESULTS = 50
_DEFAULT_RESULTS = 5


@handler(
    "rag_query",
    kind="internal",
    target=lambda _options: "the document collections",
    inert=Inert("it searches collections, which are inert only where they lie in the folder"),
)
async def rag_query(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``query``, ``collection`` (all when absent), ``max_results`` (1 to 50, 5) → the best passages.

    ``{"query", "collection", "results": [{"source", "heading", "score", "snippet"}], "total"}``, best first;
    without ``collection`` every result names its own. ``total`` counts all passages that match. Collections
    that could not be searched beside others are listed in ``unavailable``.
    """
    collections: Collections = context.service("collections")
    query, collection, limit = _query(arguments), _collection(arguments), _limit(arguments)
    answer = await collections.search(query, collection=collection, limit=limit)
    results: list[dict[str, Any]] = []
    for name, hit in answer.hits:
        own = {"collection": name} if collection is None else {}
        shown = {
            "source": hit.source,
            "heading": hit.heading,
            "score": round(hit.score, 3),
            "snippet": hit.snippet,
        }
        results.append({**own, **shown})
    extra = {"unavailable": dict(answer.unavailable)} if answer.unavailable else {}
    return {"query": query, "collection": collection, "results": results, "total": answer.total, **extra}


def _query(arguments: dict[str, Any]) -> str:
    query = arguments.get("query")
    if query is None:
        raise InvalidParameters(["missing 'query'"])
    if not isinstance(query, str):
        raise InvalidParameters(["'query' must be a string"])
    if len(query) > QUERY_CHARACTERS:
        raise InvalidParameters([f"'query' has {len(query)} characters, the most is {QUERY_CHARACTERS}"])
    return query


def _collection(arguments: dict[str, Any]) -> str | None:
    collection = arguments.get("collection")
    if collection is None or isinstance(collection, str):
        return collection or None
    raise InvalidParameters(["'collection' must be a string"])


def _limit(arguments: dict[str, Any]) -> int:
    limit = arguments.get("max_results")
    if limit is None:
        return _DEFAULT_RESULTS
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or limit != limit // 1:
        raise InvalidParameters(["'max_results' must be an integer"])
    if not 1 <= limit <= MOST_RESULTS:
        raise InvalidParameters([f"'max_results' must be from 1 to {MOST_RESULTS}, not {limit}"])
    return int(limit)
