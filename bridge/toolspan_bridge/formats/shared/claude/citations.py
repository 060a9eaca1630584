"""The sources that Claude names for its words.

Source: anthropic 2.12.0, ``types/text_citation.py``. A citation stands for the text of its block: a page
found by web search, a place in a document that was sent or fetched, or a search result in a tool's output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....messages import Citation
from ..json_values import objects, text

__all__ = ["citations"]


def citations(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Citation]:
    """Those of all text blocks, placed in the text of the whole answer. One without any name is left out."""
    start = 0
    for block in blocks:
        if block.get("type") != "text":
            continue
        end = start + len(text(block.get("text")))
        for named in objects(block.get("citations")):
            url = text(named.get("url")) or text(named.get("source"))
            title = text(named.get("title")) or text(named.get("document_title"))
            if url or title:
                yield Citation(url, title, start, end, text(named.get("cited_text")))
        start = end
