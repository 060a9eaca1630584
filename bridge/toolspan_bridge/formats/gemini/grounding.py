"""The sources of an answer: what Google's search and URL context found, placed in the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...messages import Citation
from ..shared.json_values import as_list, as_object, at, count, objects, text

__all__ = ["citations"]


def citations(candidate: Mapping[str, Any], answer: str) -> tuple[Citation, ...]:
    """Of ``groundingMetadata`` and ``citationMetadata``, each source at each place once.

    Gemini counts places in bytes of UTF-8, of a part or of the whole text: the quoted words decide.
    """
    found = [
        *_grounded(as_object(candidate.get("groundingMetadata")) or {}, answer),
        *_cited(candidate, answer),
    ]
    return tuple(dict.fromkeys(found))


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
