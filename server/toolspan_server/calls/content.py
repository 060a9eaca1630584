"""The result of a tool that is more than a JSON value: content blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Block = Mapping[str, Any]
"""A content block as MCP writes it: ``{"type": "text", "text": …}``, ``{"type": "image", "data": …,
"mimeType": …}``, ``audio``, ``resource_link`` or ``resource`` (MCP 2026-07-28, server/tools)."""

ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Content:
    """Content blocks, optionally with the same as data in ``structured``, and ``meta`` for the client.

    A block is as MCP writes it (2026-07-28, server/tools): ``{"type": "text", "text": …}``; ``structured`` is
    any JSON value.

    A kind or handler may give one instead of a JSON value.
    """

    blocks: tuple[Block, ...]
    structured: Any = ABSENT
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def value(self) -> Any:
        """The JSON value that stands for it: what is structured, else the texts of the blocks."""
        if self.structured is not ABSENT:
            return self.structured
        return text_of(self.blocks)


def text_of(blocks: tuple[Block, ...]) -> str:
    """The texts of ``blocks``, one to a line."""
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
