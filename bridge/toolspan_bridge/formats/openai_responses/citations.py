"""The sources that an answer names for its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...messages import Citation
from ..shared.json_values import objects, text
from .parts import BETWEEN, is_said, item_text, part_text


def citations(items: Sequence[Mapping[str, Any]]) -> Iterator[Citation]:
    """Those of ``url_citation``, placed in the text of the whole answer."""
    start = 0
    for item in items:
        if not is_said(item) or not item_text(item):
            continue
        for part in objects(item.get("content")):
            words = part_text(part)
            for note in objects(part.get("annotations")):
                if note.get("type") == "url_citation" and (url := text(note.get("url"))):
                    yield _placed(Citation(url, text(note.get("title"))), note, start, len(words))
            start += len(words)
        start += len(BETWEEN)


def _placed(citation: Citation, note: Mapping[str, Any], start: int, length: int) -> Citation:
    first, last = note.get("start_index"), note.get("end_index")
    if not (type(first) is int and type(last) is int and 0 <= first <= last <= length):
        return citation
    return Citation(citation.url, citation.title, start + first, start + last)
