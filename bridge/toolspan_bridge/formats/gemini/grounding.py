"""The sources of an answer: what Google's search and URL context found, placed in the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...messages import Citation
from ..shared.json_values import as_list, as_object, at, count, objects, text

__all__ = ["citations", "with_fetched"]

_PAGES = ("urlContextMetadata", "urlMetadata")
_READ = frozenset({"", "URL_RETRIEVAL_STATUS_SUCCESS"})


def citations(candidate: Mapping[str, Any], answer: str) -> tuple[Citation, ...]:
    """Of ``groundingMetadata``, ``citationMetadata`` and ``urlContextMetadata``: each source at each place
    once.

    Gemini counts places in bytes of UTF-8, of a part or of the whole text: the quoted words decide.
    """
    found = [
        *_grounded(as_object(candidate.get("groundingMetadata")) or {}, answer),
        *_cited(candidate, answer),
    ]
    known = {source.url for source in found}
    found += (Citation(url) for url in _fetched(candidate) if url not in known)
    return tuple(dict.fromkeys(found))


def with_fetched(candidate: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """``candidate`` with the pages of ``more``, the next part of its stream, after its own."""
    whole, listed = _PAGES
    if whole not in more:
        return {}
    pages = [*objects(at(candidate, *_PAGES)), *objects(at(more, *_PAGES))]
    once = [page for place, page in enumerate(pages) if page not in pages[:place]]
    return {whole: {listed: once}} if once else {}


def _fetched(candidate: Mapping[str, Any]) -> Iterator[str]:
    """The pages that URL context has read; those that it could not read are no sources."""
    for page in objects(at(candidate, *_PAGES)):
        if text(page.get("urlRetrievalStatus")) in _READ and (url := text(page.get("retrievedUrl"))):
            yield url


def _grounded(metadata: Mapping[str, Any], answer: str) -> Iterator[Citation]:
    sources = [_source(chunk) for chunk in objects(metadata.get("groundingChunks"))]
    supports = objects(metadata.get("groundingSupports"))
    for support in supports:
        start, end = _place(as_object(support.get("segment")) or {}, answer)
        for index in as_list(support.get("groundingChunkIndices")) or []:
            known = isinstance(index, int) and 0 <= index < len(sources)
            if known and (url := sources[index][0]):
                yield Citation(url, sources[index][1], start, end)
    if not supports:
        yield from (Citation(url, title) for url, title in sources if url)


def _source(chunk: Mapping[str, Any]) -> tuple[str, str]:
    """Its address and title, of whichever sort it is: ``web``, ``maps``, ``retrievedContext``."""
    for kind in ("web", "maps", "retrievedContext"):
        if url := text(at(chunk, kind, "uri")):
            return url, text(at(chunk, kind, "title"))
    return "", ""


def _cited(candidate: Mapping[str, Any], answer: str) -> Iterator[Citation]:
    metadata = as_object(candidate.get("citationMetadata")) or {}
    for key in ("citationSources", "citations"):
        for source in objects(metadata.get(key)):
            if url := text(source.get("uri")):
                start, end = _characters(
                    answer, count(source.get("startIndex")), count(source.get("endIndex"))
                )
                yield Citation(url, text(source.get("title")), start, end)


def _place(segment: Mapping[str, Any], answer: str) -> tuple[int | None, int | None]:
    start, end = _characters(answer, count(segment.get("startIndex")), count(segment.get("endIndex")))
    quoted = text(segment.get("text"))
    if not quoted or (start is not None and answer[start:end] == quoted):
        return start, end
    found = answer.find(quoted)
    return (None, None) if found < 0 else (found, found + len(quoted))


def _characters(answer: str, start: int, end: int) -> tuple[int | None, int | None]:
    """Places in bytes as places in characters."""
    written = answer.encode("utf-8", "replace")
    if not 0 <= start < end <= len(written):
        return None, None
    return len(written[:start].decode("utf-8", "ignore")), len(written[:end].decode("utf-8", "ignore"))
