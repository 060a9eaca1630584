"""The sources that a model behind Converse names for its words.

Source: botocore 1.44.5, ``CitationsContentBlock`` and ``Citation``. A citation stands for the text of its
block: a page on the web, a place in a document that was sent, or a search result in a tool's output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...messages import Citation
from ..shared.json_values import at, objects, text

__all__ = ["block_text", "citations"]


def block_text(block: Mapping[str, Any]) -> str:
    """The text of a block, with citations or without."""
    cited = objects(at(block, "citationsContent", "content"))
    return text(block.get("text")) or "".join(text(part.get("text")) for part in cited)


def citations(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Citation]:
    """Those of all blocks, placed in the text of the whole answer. One without any name is left out."""
    start = 0
    for block in blocks:
        end = start + len(block_text(block))
        for named in objects(at(block, "citationsContent", "citations")):
            url = text(at(named, "location", "web", "url")) or text(named.get("source"))
            title = text(named.get("title")) or text(at(named, "location", "web", "domain"))
            if url or title:
                quoted = "".join(text(part.get("text")) for part in objects(named.get("sourceContent")))
                yield Citation(url, title, start, end, quoted)
        start = end
