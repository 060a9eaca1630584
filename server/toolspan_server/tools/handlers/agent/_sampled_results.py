"""Calls of tools in a sampled message, and their results as the next message has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ....calls.content import text_of
from ....calls.results import ToolResult
from ....common.json_values import shortened

MOST_CALLS = 16
"""Calls of one message that are made."""


def tool_uses(content: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The calls in a message: its blocks ``{"type": "tool_use", "id", "name", "input"}``."""
    return [
        block for block in content if block.get("type") == "tool_use" and isinstance(block.get("id"), str)
    ]


def result_block(
    use: Mapping[str, Any], result: ToolResult | str, most: int = 4_000, *, failed: bool = False
) -> dict[str, Any]:
    """``{"type": "tool_result", "toolUseId", "content", "isError"?}``, of at most ``most`` characters."""
    if isinstance(result, str):
        text = result
    elif not result.success:
        text, failed = f"{result.error} ({result.error_code}) {result.user_action}", True
    elif result.content is not None:
        others = sum(block.get("type") != "text" for block in result.content)
        text = text_of(result.content) + (f"\n({others} that is no text is left out)" if others else "")
    else:
        text = (
            result.result if isinstance(result.result, str) else json.dumps(result.result, ensure_ascii=False)
        )
    block = {"type": "text", "text": shortened(text, most)}
    answer: dict[str, Any] = {"type": "tool_result", "toolUseId": use["id"], "content": [block]}
    return answer | ({"isError": True} if failed else {})
