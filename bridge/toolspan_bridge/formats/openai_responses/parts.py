"""The text of an answer's items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..shared.json_values import objects, text

BETWEEN = "\n\n"
"""What stands between two messages of one answer."""


def message_text(items: Sequence[Mapping[str, Any]]) -> str:
    """The texts and refusals of an answer's messages, with a blank line between two messages."""
    answer_text = (item_text(item) for item in items if is_said(item))
    return BETWEEN.join(filter(None, answer_text))


def is_said(item: Mapping[str, Any]) -> bool:
    """Whether an item is a message of the model: some servers say those of the user again."""
    return item.get("type") == "message" and item.get("role") in (None, "assistant")


def item_text(item: Mapping[str, Any]) -> str:
    """The text of a message, which some servers write in no list of parts."""
    return text(item.get("content")) or "".join(part_text(part) for part in objects(item.get("content")))


def part_text(part: Mapping[str, Any]) -> str:
    """The text, or the refusal, of a part of a message."""
    return text(part.get("text")) or text(part.get("refusal"))
