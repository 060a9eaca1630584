"""Claude's answer to InvokeModel, read."""

from __future__ import annotations

from typing import Any

from ...messages import Reply
from ..shared.claude.parse import parse_message

FORMAT = "bedrock-anthropic"


def parse_reply(body: Any) -> Reply:
    """``content``, its blocks kept to be sent back. Raises ``FormatError`` when there is none."""
    return parse_message(body, FORMAT)
